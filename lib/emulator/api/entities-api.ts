import { created, existing, found, foundList, noContent, urlOf } from "./endpoint-router";
import type { Endpoints, EndpointRequest } from "./endpoint-router";
import {
  CHANGED_PUSH_FACTOR,
  CHANGED_TOTP_FACTOR,
  NEW_ACCESS_TOKEN,
  NEW_ENTITY,
  NEW_FACTOR,
} from "./entity-parameters";
import { readForm, readParameters, toMembers } from "./parameters";
import type { AccessTokens } from "../resources/access-tokens";
import type { Entities } from "../resources/entities";
import type { Entity, Factor } from "../resources/factor";
import type { EmulatorSettings } from "../options";
import { orderBy } from "../resources/pagination";
import { createTotpUri, type TotpConfig } from "../resources/totp";

/**
 * Creates the endpoints of entities, factors and access tokens, as the verification API of the public
 * service has them. Their paths start after that of the service.
 */
export function createEntityEndpoints(
  { accountSid, serviceSid }: EmulatorSettings,
  entities: Entities,
  accessTokens: AccessTokens,
): Endpoints {
  const owner = { account_sid: accountSid, service_sid: serviceSid };

  const findEntity = (request: EndpointRequest) =>
    existing(entities.findEntity(request.params[1]), request);
  const findFactor = (request: EndpointRequest) =>
    existing(entities.findFactor(request.params[2], request.params[1]), request);
  const entityUrl = ({ baseUrl }: EndpointRequest, identity: string) =>
    `${baseUrl}/v2/Services/${serviceSid}/Entities/${encodeURIComponent(identity)}`;

  function toEntityResource(entity: Entity, request: EndpointRequest) {
    const url = entityUrl(request, entity.identity);
    const [factors, challenges] = [`${url}/Factors`, `${url}/Challenges`];
    const links = { factors, new_factors: factors, challenges, new_challenge: challenges };
    return { ...entity, ...owner, url, links };
  }

  function toFactorResource(stored: Factor, request: EndpointRequest) {
    const { entity_identity: identity, metadata = null, ...factor } = stored;
    const url = `${entityUrl(request, identity)}/Factors/${factor.sid}`;
    return { ...factor, ...owner, identity, metadata, url };
  }

  return {
    "/Entities": {
      GET: (request) =>
        foundList(request, "entities", entities.listEntities(), orderBy("YE"), toEntityResource),
      POST(request) {
        const { Identity } = readParameters(readForm(request), NEW_ENTITY);
        return created(toEntityResource(entities.createEntity(Identity), request));
      },
    },
    "/Entities/{Identity}": {
      GET: (request) => found(toEntityResource(findEntity(request), request)),
      DELETE: noContent((request) => entities.deleteEntity(findEntity(request))),
    },
    "/Entities/{Identity}/Factors": {
      GET(request) {
        const factors = entities.listFactors(findEntity(request).identity);
        return foundList(request, "factors", factors, orderBy("YF"), toFactorResource);
      },
      POST(request) {
        const [, identity = ""] = request.params;
        readParameters([["Identity", identity]], NEW_ENTITY);
        const { binding, ...fields } = readNewFactor(request);
        const factor = entities.createFactor(identity, fields, binding);
        return created({ ...toFactorResource(factor, request), binding, options: null });
      },
    },
    "/Entities/{Identity}/Factors/{Sid}": {
      GET: (request) => found(toFactorResource(findFactor(request), request)),
      POST(request) {
        const factor = findFactor(request);
        const isTotp = factor.factor_type === "totp";
        const schema = isTotp ? CHANGED_TOTP_FACTOR : CHANGED_PUSH_FACTOR;
        const given = readParameters(readForm(request), schema);
        if (given.AuthPayload !== undefined) entities.verifyFactor(factor, given.AuthPayload);
        const { FriendlyName = factor.friendly_name } = given;
        entities.changeFactor(factor, FriendlyName, toMembers(given, "Config."));
        return found(toFactorResource(factor, request));
      },
      DELETE: noContent((request) => entities.deleteFactor(findFactor(request))),
    },
    "/AccessTokens": {
      POST(request) {
        const given = readParameters(readForm(request), NEW_ACCESS_TOKEN);
        const accessToken = accessTokens.create({
          entity_identity: given.Identity,
          factor_type: given.FactorType,
          factor_friendly_name: given.FactorFriendlyName ?? null,
          ttl: given.Ttl,
        });
        return created({ ...accessToken, ...owner, url: `${urlOf(request)}/${accessToken.sid}` });
      },
    },
    "/AccessTokens/{Sid}": {
      GET(request) {
        const accessToken = existing(accessTokens.find(request.params[1]), request);
        return found({ ...accessToken, ...owner, url: urlOf(request) });
      },
    },
  };
}

function readNewFactor(request: EndpointRequest) {
  const given = readParameters(readForm(request), NEW_FACTOR);
  const { FactorType: factor_type, FriendlyName: friendly_name, Metadata: metadata } = given;
  const config = toMembers(given, "Config.");
  const fields = { factor_type, friendly_name, config, metadata };
  if (given.FactorType === "push") {
    const binding = { alg: given["Binding.Alg"], public_key: given["Binding.PublicKey"] };
    return { ...fields, binding };
  }
  const secret = given["Binding.Secret"];
  const uri = createTotpUri(friendly_name, secret, config as unknown as TotpConfig);
  return { ...fields, binding: { secret, uri } };
}
