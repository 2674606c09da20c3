import * as z from "zod";
import { createSid, isSid } from "../../kit/sid";
import { created, EndpointResponse, entityUrlOf } from "./endpoint-router";
import { listPage } from "./pagination";
import type { Endpoints, EndpointRequest } from "./endpoint-router";
import { group, createParameterError, jsonOf, listOf, metadataParameter } from "./parameters";
import { payloadSchema, readForm, readParameters, wholeBetween } from "./parameters";
import { SIGNATURE_FIELDS } from "../resources/auth-payload";
import type { Challenge } from "../resources/entity";
import { formatIso8601 } from "../resources/dates";
import type { Entities } from "../resources/entities";
import { existing } from "../emulator-error";
import type { EmulatorSettings } from "../options";
import { textSchema } from "../resources/schemas";

const NEW_CHALLENGE = z.object({
  factor_sid: z.string().refine((sid) => isSid("YF", sid)),
  expiration_date: z.iso.datetime({ offset: true }).optional(),
  details: group({
    message: textSchema.min(1).max(256).optional(),
    fields: listOf(jsonOf(z.object({ label: z.string().max(36), value: z.string().max(128) })))
      .refine((fields) => fields.length <= 20)
      .optional(),
  }),
  hidden_details: metadataParameter.optional(),
  auth_payload: payloadSchema.optional(),
});
/** The parameters with which a device answers a challenge. */
const CHANGED_CHALLENGE = z.object({
  auth_payload: payloadSchema,
  metadata: metadataParameter.optional(),
});
const CHALLENGE_FILTER = z.object({
  factor_sid: z.string().optional(),
  status: z.enum(["pending", "expired", "approved", "denied"]).optional(),
  order: z.enum(["asc", "desc"]).default("asc"),
});
const NEW_NOTIFICATION = z.object({ ttl: wholeBetween(0, 300).default(300) });

/** Returns a challenge as responses show it, with the SIDs of its account and service. */
function toResource(owner: object, stored: Challenge, request: EndpointRequest) {
  const { entity_identity: identity, ...challenge } = stored;
  const { hidden_details = null, metadata = null, date_responded = null } = challenge;
  const url = `${entityUrlOf(request, identity)}/Challenges/${challenge.sid}`;
  return {
    ...challenge,
    ...owner,
    identity,
    hidden_details,
    metadata,
    date_responded,
    responded_reason: null,
    url,
    links: { notifications: `${url}/Notifications` },
  };
}

/**
 * Creates the endpoints of challenges and their notifications, as the verification API of the public
 * service has them. Their paths follow the path of the service.
 */
export function createChallengeEndpoints(
  { accountSid, serviceSid, signatureHeader, now }: EmulatorSettings,
  entities: Entities,
): Endpoints {
  const owner = { account_sid: accountSid, service_sid: serviceSid };
  // The vendor of X-Acme-Signature names this header Acme-Verify-Signature-Fields.
  const [, vendor = ""] = /^(?:X-)?(.*?)(?:-Signature)?$/i.exec(signatureHeader) ?? [];
  const headers = { [`${vendor}-Verify-Signature-Fields`]: SIGNATURE_FIELDS.join() };

  const show = (challenge: Challenge, request: EndpointRequest) =>
    toResource(owner, challenge, request);
  const findEntity = ({ params, path }: EndpointRequest) =>
    existing(entities.findEntity(params[1]), path);
  const findChallenge = ({ params, path }: EndpointRequest) =>
    existing(entities.findChallenge(params[2], params[1]), path);

  function createChallenge(request: EndpointRequest): Challenge {
    const { identity } = findEntity(request);
    const given = readParameters(readForm(request), NEW_CHALLENGE);
    const { factor_sid, auth_payload, details, ...fields } = given;
    const factor = entities.findFactor(factor_sid, identity);
    if (factor === undefined) throw createParameterError("FactorSid");
    const isTotp = factor.factor_type === "totp";
    if (details.message === undefined && !isTotp) throw createParameterError("Details.Message");
    const { message = "" } = details;
    const challenge = entities.createChallenge(factor, {
      ...fields,
      details: { ...details, message },
    });
    if (isTotp && auth_payload !== undefined) entities.answerChallenge(challenge, auth_payload);
    return challenge;
  }

  return {
    "/Entities/{Identity}/Challenges": {
      GET(request) {
        const { identity } = findEntity(request);
        const given = readParameters(request.query, CHALLENGE_FILTER);
        const challenges = entities
          .listChallenges(identity)
          .filter(({ factor_sid }) => factor_sid === (given.factor_sid ?? factor_sid))
          .filter(({ status }) => status === (given.status ?? status));
        const newestFirst = given.order === "desc";
        return listPage(request, "challenges", "YC", challenges, show, newestFirst);
      },
      POST: (request) => created(show(createChallenge(request), request)),
    },
    "/Entities/{Identity}/Challenges/{Sid}": {
      GET: (request) => new EndpointResponse(200, show(findChallenge(request), request), headers),
      POST(request) {
        const challenge = findChallenge(request);
        const given = readParameters(readForm(request), CHANGED_CHALLENGE);
        entities.answerChallenge(challenge, given.auth_payload, { metadata: given.metadata });
        return show(challenge, request);
      },
    },
    "/Entities/{Identity}/Challenges/{Sid}/Notifications": {
      POST(request) {
        const challenge = findChallenge(request);
        const { ttl } = readParameters(readForm(request), NEW_NOTIFICATION);
        entities.notify(challenge);
        return created({
          sid: createSid("NT"),
          ...owner,
          entity_sid: challenge.entity_sid,
          identity: challenge.entity_identity,
          challenge_sid: challenge.sid,
          priority: "high",
          ttl,
          date_created: formatIso8601(now()),
        });
      },
    },
  };
}
