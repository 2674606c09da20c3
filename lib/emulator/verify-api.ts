import type { ApiRequest, Route } from "./api";
import { EmulatorError, notFound } from "./errors";
import { cutPage, formatPageQuery, readPageQuery, type Page, type PageQuery } from "./pages";
import { invalidParameter, readForm, readOne } from "./parameters";
import type { NewWebhook, Webhook, WebhookChange } from "./webhook";
import {
  toWebhookResource,
  WEBHOOK_LIST,
  webhookSchema,
  type WebhookOwner,
  type Webhooks,
} from "./webhooks";

/** Makes the verification API: the endpoints of webhooks (specification, section 4.2). */
export function createVerifyRoutes(owner: WebhookOwner, webhooks: Webhooks): Route[] {
  const toResource = (webhook: Webhook, { baseUrl }: ApiRequest) =>
    toWebhookResource(webhook, owner, baseUrl);

  function assertService({ path }: ApiRequest, service: string | undefined): void {
    if (service !== owner.serviceSid) throw notFound(withoutVersion(path));
  }

  function findWebhook(request: ApiRequest, [service, sid = ""]: readonly string[]): Webhook {
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
          const query = readPageQuery(request.query, WEBHOOK_LIST);
          const page = cutPage(webhooks.list(), positionOf, query, WEBHOOK_LIST);
          const items = page.items.map((webhook) => toResource(webhook, request));
          const meta = toMeta(page, request.baseUrl + request.path);
          return { status: 200, body: { webhooks: items, meta } };
        },
        POST(request, [service]) {
          assertService(request, service);
          const webhook = webhooks.create(readNewWebhook(request));
          return { status: 201, body: toResource(webhook, request) };
        },
      },
    },
    {
      path: /^\/v2\/Services\/([^/]+)\/Webhooks\/([^/]+)$/,
      methods: {
        GET: (request, params) => ({
          status: 200,
          body: toResource(findWebhook(request, params), request),
        }),
        POST(request, params) {
          const webhook = findWebhook(request, params);
          webhooks.change(webhook, readWebhook(request));
          return { status: 200, body: toResource(webhook, request) };
        },
        DELETE(request, params) {
          webhooks.remove(findWebhook(request, params));
          return { status: 204 };
        },
      },
    },
  ];
}

/** The parameters that say one field each; none says webhook_method. */
const FIELDS = {
  FriendlyName: "friendly_name",
  WebhookUrl: "webhook_url",
  Status: "status",
  Version: "version",
} as const;

function readWebhook(request: ApiRequest): WebhookChange {
  const parameters = readForm(request);
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(FIELDS)) {
    const value = readOne(parameters, name);
    if (value === undefined) continue;
    if (!webhookSchema.shape[field].safeParse(value).success) throw invalidParameter(name);
    fields[field] = value;
  }
  const eventTypes = parameters.get("EventTypes");
  if (eventTypes !== undefined) {
    if (!webhookSchema.shape.event_types.safeParse(eventTypes).success) {
      throw new EmulatorError("WEBHOOK_REQUEST_INVALID", "Invalid Request");
    }
    fields.event_types = [...new Set(eventTypes)];
  }
  return fields;
}

function readNewWebhook(request: ApiRequest): NewWebhook {
  const { friendly_name, event_types, webhook_url, ...rest } = readWebhook(request);
  if (friendly_name === undefined) throw invalidParameter("FriendlyName");
  if (event_types === undefined) throw invalidParameter("EventTypes");
  if (webhook_url === undefined) throw invalidParameter("WebhookUrl");
  return { friendly_name, event_types, webhook_url, ...rest };
}

function positionOf(webhook: Webhook) {
  return { seconds: webhook.createdSeconds, sid: webhook.sid };
}

/** The paging of a list of webhooks (specification, section 2.4). */
function toMeta({ query, first, previous, next }: Page<Webhook>, url: string): object {
  const link = (to: PageQuery) => `${url}?${formatPageQuery(to)}`;
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

/** Refusals of the verification API leave the version out of paths. */
function withoutVersion(path: string): string {
  return path.replace(/^\/v2(?=\/)/, "");
}
