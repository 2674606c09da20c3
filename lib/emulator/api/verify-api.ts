import { created, found, noContent, type Endpoint, type EndpointRequest } from "./endpoint-router";
import { EmulatorError, notFound } from "../emulator-error";
import { cutPage } from "../resources/pagination";
import { invalidParameter, readForm, readSingle } from "./request-form";
import { decodeSafely } from "../../form/percent-encoding";
import type { Challenge } from "../resources/challenge";
import type { Factors } from "../resources/factors";
import type { NewWebhook, StoredWebhook, WebhookFields } from "../resources/webhook";
import { toWebhookFields, WEBHOOK_LIST, webhookFieldsSchema } from "../resources/webhooks";
import type { StoredWebhooks, WebhookOwner } from "../resources/webhooks";

/**
 * Creates the endpoints of the verification API: those of webhooks (section 4.2), and the one that
 * shows a challenge.
 */
export function createVerifyEndpoints(
  owner: WebhookOwner,
  webhooks: StoredWebhooks,
  factors: Factors,
): Endpoint[] {
  const toResource = (webhook: StoredWebhook, { baseUrl }: EndpointRequest) => ({
    ...toWebhookFields(webhook, owner),
    url: `${baseUrl}/v2/Services/${owner.serviceSid}/Webhooks/${webhook.sid}`,
  });

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
          const url = request.baseUrl + request.path;
          const page = cutPage(webhooks.list(), request.query, url, WEBHOOK_LIST);
          // The envelope of the specification (section 2.4).
          return found({
            webhooks: page.items.map((webhook) => toResource(webhook, request)),
            meta: {
              page: page.page,
              page_size: page.pageSize,
              first_page_url: page.first,
              previous_page_url: page.previous,
              url: page.url,
              next_page_url: page.next,
              key: "webhooks",
            },
          });
        },
        POST(request, [service]) {
          assertService(request, service);
          return created(toResource(webhooks.create(readNewWebhook(request)), request));
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
        DELETE: noContent((request, params) => webhooks.remove(findWebhook(request, params))),
      },
    },
    {
      path: /^\/v2\/Services\/([^/]+)\/Entities\/([^/]+)\/Challenges\/([^/]+)$/,
      methods: {
        GET(request, [service, identity = "", sid = ""]) {
          assertService(request, service);
          const challenge = factors.fetchChallenge(sid);
          if (challenge.entity_identity !== decodeSafely(identity)) {
            throw notFound(withoutVersion(request.path));
          }
          return found(toChallengeResource(challenge, owner, request));
        },
      },
    },
  ];
}

function toChallengeResource(
  { entity_identity: identity, ...challenge }: Challenge,
  { accountSid, serviceSid }: WebhookOwner,
  { baseUrl, path }: EndpointRequest,
) {
  const url = baseUrl + path;
  return {
    ...challenge,
    account_sid: accountSid,
    service_sid: serviceSid,
    identity,
    hidden_details: challenge.hidden_details ?? null,
    metadata: challenge.metadata ?? null,
    date_responded: challenge.date_responded ?? null,
    responded_reason: null,
    url,
    links: { notifications: `${url}/Notifications` },
  };
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

/** Removes the version from a path: error messages of the verification API omit it. */
function withoutVersion(path: string): string {
  return path.replace(/^\/v2(?=\/)/, "");
}
