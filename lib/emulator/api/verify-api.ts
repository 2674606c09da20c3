import { created, found, type Endpoint, type EndpointRequest } from "./endpoint-router";
import { EmulatorError, notFound } from "../emulator-error";
import {
  cutPage,
  formatPageParameters,
  readPageParameters,
  type ListPage,
  type PageParameters,
} from "../resources/pagination";
import { invalidParameter, readForm, readSingle } from "./request-form";
import type { NewWebhook, StoredWebhook, WebhookFields } from "../resources/webhook";
import {
  toWebhookResource,
  WEBHOOK_LIST,
  webhookFieldsSchema,
  type WebhookOwner,
  type StoredWebhooks,
} from "../resources/webhooks";

/** Creates the endpoints of the verification API: those of webhooks (section 4.2). */
export function createVerifyEndpoints(owner: WebhookOwner, webhooks: StoredWebhooks): Endpoint[] {
  const toResource = (webhook: StoredWebhook, { baseUrl }: EndpointRequest) =>
    toWebhookResource(webhook, owner, baseUrl);

  function assertService({ path }: EndpointRequest, service: string | undefined): void {
    if (service !== owner.serviceSid) throw notFound(withoutVersion(path));
  }

  function findWebhook(request: EndpointRequest, [service, sid = ""]: readonly string[]) {
    assertService(request, service);
    const webhook = webhooks.find(sid);
    if (webhook === undefined) throw notFound(withoutVersion(request.path));
    return webhook;
  }

  return [
    {
      path: /^\/v2\/Services\/([^/]+)\/Webhooks$/,
      methods: {
        GET(request, [service]) {
          assertService(request, service);
          const query = readPageParameters(request.query, WEBHOOK_LIST);
          const page = cutPage(webhooks.list(), positionOf, query, WEBHOOK_LIST);
          const items = page.items.map((webhook) => toResource(webhook, request));
          const meta = toMeta(page, request.baseUrl + request.path);
          return found({ webhooks: items, meta });
        },
        POST(request, [service]) {
          assertService(request, service);
          const webhook = webhooks.create(readNewWebhook(request));
          return created(toResource(webhook, request));
        },
      },
    },
    {
      path: /^\/v2\/Services\/([^/]+)\/Webhooks\/([^/]+)$/,
      methods: {
        GET: (request, params) => found(toResource(findWebhook(request, params), request)),
        POST(request, params) {
          const webhook = findWebhook(request, params);
          webhooks.change(webhook, readWebhook(request));
          return found(toResource(webhook, request));
        },
        DELETE(request, params) {
          webhooks.remove(findWebhook(request, params));
          return { status: 204 };
        },
      },
    },
  ];
}

/** Field that each parameter sets. No parameter sets webhook_method (section 4.2). */
const FIELDS = {
  FriendlyName: "friendly_name",
  WebhookUrl: "webhook_url",
  Status: "status",
  Version: "version",
} as const;

function readWebhook(request: EndpointRequest): Partial<WebhookFields> {
  const parameters = readForm(request);
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(FIELDS)) {
    const value = readSingle(parameters, name);
    if (value === undefined) continue;
    if (!webhookFieldsSchema.shape[field].safeParse(value).success) throw invalidParameter(name);
    fields[field] = value;
  }
  const eventTypes = parameters.get("EventTypes");
  if (eventTypes !== undefined) {
    if (!webhookFieldsSchema.shape.event_types.safeParse(eventTypes).success) {
      throw new EmulatorError("WEBHOOK_REQUEST_INVALID", "Invalid Request");
    }
    fields.event_types = [...new Set(eventTypes)];
  }
  return fields;
}

function readNewWebhook(request: EndpointRequest): NewWebhook {
  const { friendly_name, event_types, webhook_url, ...rest } = readWebhook(request);
  if (friendly_name === undefined) throw invalidParameter("FriendlyName");
  if (event_types === undefined) throw invalidParameter("EventTypes");
  if (webhook_url === undefined) throw invalidParameter("WebhookUrl");
  return { friendly_name, event_types, webhook_url, ...rest };
}

function positionOf(webhook: StoredWebhook) {
  return { seconds: webhook.createdSeconds, sid: webhook.sid };
}

/** Returns the `meta` of a page of webhooks (specification, section 2.4). */
function toMeta({ query, first, previous, next }: ListPage<StoredWebhook>, url: string): object {
  const link = (to: PageParameters) => `${url}?${formatPageParameters(to)}`;
  return {
    page: query.page,
    page_size: query.pageSize,
    first_page_url: link(first),
    previous_page_url: previous && link(previous),
    url: link(query),
    next_page_url: next && link(next),
    key: "webhooks",
  };
}

/** Removes the version from a path: error messages of the verification API omit it. */
function withoutVersion(path: string): string {
  return path.replace(/^\/v2(?=\/)/, "");
}
