import * as z from "zod";
import { createChallengeEndpoints } from "./challenges-api";
import { created, createNotEmulatedError } from "./endpoint-router";
import { listPage } from "./pagination";
import type { EndpointGroup, EndpointRequest, Endpoints } from "./endpoint-router";
import { createEntityEndpoints } from "./entities-api";
import { EmulatorError, existing } from "../emulator-error";
import { listOf, readForm, readParameters } from "./parameters";
import type { AccessTokens } from "../resources/access-tokens";
import type { Entities } from "../resources/entities";
import { formatIso8601 } from "../resources/dates";
import { newWebhookSchema } from "../resources/schemas";
import type { EmulatorSettings } from "../options";
import type { StoredWebhook, StoredWebhooks } from "../resources/webhooks";

const { shape } = newWebhookSchema;
/** No parameter sets webhook_method (section 4.2). */
const NEW_WEBHOOK = z.object({
  friendly_name: shape.friendly_name.unwrap(),
  event_types: listOf(shape.event_types.unwrap().element).transform((types) => [...new Set(types)]),
  webhook_url: shape.webhook_url,
  status: shape.status.unwrap().optional(),
  version: shape.version.unwrap().optional(),
});
const CHANGED_WEBHOOK = NEW_WEBHOOK.partial();

/**
 * Creates the endpoints of the verification API: webhooks (section 4.2), the service itself, and its
 * entities.
 */
export function createVerifyEndpoints(
  owner: EmulatorSettings,
  webhooks: StoredWebhooks,
  entities: Entities,
  accessTokens: AccessTokens,
): EndpointGroup {
  const startDate = formatIso8601(owner.now());
  const toResource = (webhook: StoredWebhook, { baseUrl }: EndpointRequest) => ({
    ...webhook,
    url: `${baseUrl}/v2/Services/${owner.serviceSid}/Webhooks/${webhook.sid}`,
  });

  const findWebhook = ({ params, path }: EndpointRequest) =>
    existing(webhooks.find(params[1]), path);

  const endpoints: Endpoints = {
    "": {
      GET: (request) => toServiceResource(owner, startDate, request),
      POST: rejectAsNotEmulated,
      DELETE: rejectAsNotEmulated,
    },
    "/Webhooks": {
      GET: (request) => listPage(request, "webhooks", "YW", webhooks.list(), toResource),
      POST(request) {
        const webhook = readParameters(readForm(request), NEW_WEBHOOK, chooseWebhookCode);
        return created(toResource(webhooks.create(webhook), request));
      },
    },
    "/Webhooks/{Sid}": {
      GET: (request) => toResource(findWebhook(request), request),
      POST(request) {
        const webhook = findWebhook(request);
        const change = readParameters(readForm(request), CHANGED_WEBHOOK, chooseWebhookCode);
        webhooks.change(webhook, change);
        return toResource(webhook, request);
      },
      DELETE: (request) => webhooks.remove(findWebhook(request)),
    },
    ...createEntityEndpoints(owner, entities, accessTokens),
    ...createChallengeEndpoints(owner, entities),
  };
  return {
    prefix: "/v2/Services/{ServiceSid}",
    endpoints,
    check({ caller, method, path, params: [service, identity] }) {
      if (typeof caller === "object") {
        // An access token registers a device of its own user, and is rejected everywhere else.
        const isOwn = caller.entity_identity === identity;
        if (!isOwn || method !== "POST" || !path.endsWith("/Factors")) {
          throw new EmulatorError("NOT_AUTHENTICATED", "Authenticate");
        }
      }
      existing(service === owner.serviceSid ? service : undefined, path);
    },
  };
}

/** Returns the service: the members of the public API, with the values of a new service. */
function toServiceResource(
  { accountSid, serviceSid }: EmulatorSettings,
  date: string,
  request: EndpointRequest,
) {
  const url = request.url;
  return {
    sid: serviceSid,
    account_sid: accountSid,
    friendly_name: "emulator",
    code_length: 6,
    lookup_enabled: false,
    psd2_enabled: false,
    skip_sms_to_landlines: false,
    dtmf_input_required: true,
    tts_name: null,
    do_not_share_warning_enabled: false,
    custom_code_enabled: false,
    push: { include_date: true, apn_credential_sid: null, fcm_credential_sid: null },
    totp: { issuer: "emulator", time_step: 30, code_length: 6, skew: 1 },
    default_template_sid: null,
    whatsapp: null,
    passkeys: null,
    verify_event_subscription_enabled: false,
    date_created: date,
    date_updated: date,
    url,
    links: {
      entities: `${url}/Entities`,
      webhooks: `${url}/Webhooks`,
      access_tokens: `${url}/AccessTokens`,
    },
  };
}

function rejectAsNotEmulated(request: EndpointRequest): never {
  throw createNotEmulatedError(request);
}

function chooseWebhookCode(name: string, isMissing: boolean) {
  return name === "EventTypes" && !isMissing ? "REQUEST_INVALID" : "PARAMETER_INVALID";
}
