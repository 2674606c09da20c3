import { created, existing, found, foundList } from "./endpoint-router";
import type { Endpoints, EndpointRequest } from "./endpoint-router";
import {
  CHALLENGE_FILTER,
  CHANGED_CHALLENGE,
  NEW_CHALLENGE,
  NEW_NOTIFICATION,
} from "./entity-parameters";
import { invalidParameter, readForm, readParameters } from "./parameters";
import { SIGNATURE_FIELDS_VALUE } from "../resources/auth-payload";
import type { Challenge } from "../resources/challenge";
import { formatIso8601 } from "../resources/dates";
import type { Entities } from "../resources/entities";
import type { EmulatorSettings } from "../options";
import { orderBy } from "../resources/pagination";
import { createSid } from "../resources/sids";

/**
 * Creates the endpoints of challenges and their notifications, as the verification API of the public
 * service has them. Their paths start after that of the service.
 */
export function createChallengeEndpoints(
  { accountSid, serviceSid, signatureHeader, now }: EmulatorSettings,
  entities: Entities,
): Endpoints {
  const owner = { account_sid: accountSid, service_sid: serviceSid };
  // The vendor of X-Acme-Signature names this header Acme-Verify-Signature-Fields.
  const [, vendor = ""] = /^(?:X-)?(.*?)(?:-Signature)?$/i.exec(signatureHeader) ?? [];
  const headers = { [`${vendor}-Verify-Signature-Fields`]: SIGNATURE_FIELDS_VALUE };

  const findEntity = (request: EndpointRequest) =>
    existing(entities.findEntity(request.params[1]), request);
  const findChallenge = (request: EndpointRequest) =>
    existing(entities.findChallenge(request.params[2], request.params[1]), request);

  function toResource(stored: Challenge, { baseUrl }: EndpointRequest) {
    const { entity_identity: identity, ...challenge } = stored;
    const { hidden_details = null, metadata = null, date_responded = null } = challenge;
    const entityUrl = `${baseUrl}/v2/Services/${serviceSid}/Entities/${encodeURIComponent(identity)}`;
    const url = `${entityUrl}/Challenges/${challenge.sid}`;
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

  function createChallenge(request: EndpointRequest): Challenge {
    const { identity } = findEntity(request);
    const given = readParameters(readForm(request), NEW_CHALLENGE);
    const { "Details.Message": message, "Details.Fields": fields = [] } = given;
    const factor = entities.findFactor(given.FactorSid, identity);
    if (factor === undefined) throw invalidParameter("FactorSid");
    const isTotp = factor.factor_type === "totp";
    if (message === undefined && !isTotp) throw invalidParameter("Details.Message");
    const challenge = entities.createChallenge(factor, {
      details: { message: message ?? "", fields },
      hidden_details: given.HiddenDetails,
      expiration_date: given.ExpirationDate,
    });
    if (isTotp && given.AuthPayload !== undefined) {
      entities.answerChallenge(challenge, given.AuthPayload);
    }
    return challenge;
  }

  return {
    "/Entities/{Identity}/Challenges": {
      GET(request) {
        const { identity } = findEntity(request);
        const { FactorSid, Status, Order } = readParameters(request.query, CHALLENGE_FILTER);
        const challenges = entities
          .listChallenges(identity)
          .filter(({ factor_sid }) => FactorSid === undefined || factor_sid === FactorSid)
          .filter(({ status }) => Status === undefined || status === Status);
        const order = orderBy("YC", Order === "desc");
        return foundList(request, "challenges", challenges, order, toResource);
      },
      POST: (request) => created(toResource(createChallenge(request), request)),
    },
    "/Entities/{Identity}/Challenges/{Sid}": {
      GET: (request) => ({ ...found(toResource(findChallenge(request), request)), headers }),
      POST(request) {
        const challenge = findChallenge(request);
        const given = readParameters(readForm(request), CHANGED_CHALLENGE);
        entities.answerChallenge(challenge, given.AuthPayload, { metadata: given.Metadata });
        return found(toResource(challenge, request));
      },
    },
    "/Entities/{Identity}/Challenges/{Sid}/Notifications": {
      POST(request) {
        const challenge = findChallenge(request);
        const { Ttl } = readParameters(readForm(request), NEW_NOTIFICATION);
        entities.notify(challenge);
        return created({
          sid: createSid("NT"),
          ...owner,
          entity_sid: challenge.entity_sid,
          identity: challenge.entity_identity,
          challenge_sid: challenge.sid,
          priority: "high",
          ttl: Ttl,
          date_created: formatIso8601(now()),
        });
      },
    },
  };
}
