import { created, found, noContent, resourceNotFound, urlOf } from "./endpoint-router";
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
import type { Entity, StoredFactor } from "../resources/factor";
import type { EmulatorSettings } from "../options";
import { cutPage, orderBy, toList } from "../resources/pagination";
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

  function findFactor(request: EndpointRequest, params: readonly string[]): StoredFactor {
    const factor = entities.findFactor(params[2] ?? "");
    if (factor === undefined || factor.entity_identity !== params[1]) {
      throw resourceNotFound(request);
    }
    return factor;
  }

  const entityUrl = ({ baseUrl }: EndpointRequest, identity: string) =>
    `${baseUrl}/v2/Services/${serviceSid}/Entities/${encodeURIComponent(identity)}`;

  function toEntityResource(entity: Entity, request: EndpointRequest) {
    const url = entityUrl(request, entity.identity);
    const [factors, challenges] = [`${url}/Factors`, `${url}/Challenges`];
    const links = { factors, new_factors: factors, challenges, new_challenge: challenges };
    return { ...entity, ...owner, url, links };
  }

  function toFactorResource(stored: StoredFactor, request: EndpointRequest) {
    const { binding: _, entity_identity: identity, metadata = null, ...factor } = stored;
    const url = `${entityUrl(request, identity)}/Factors/${factor.sid}`;
    return { ...factor, ...owner, identity, metadata, url };
  }

  return {
    "/Entities": {
      GET(request) {
        const page = cutPage(entities.listEntities(), request.query, urlOf(request), orderBy("YE"));
        return found(toList("entities", page, (entity) => toEntityResource(entity, request)));
      },
      POST(request) {
        const { Identity } = readParameters(readForm(request), NEW_ENTITY);
        return created(toEntityResource(entities.createEntity(Identity), request));
      },
    },
    "/Entities/{Identity}": {
      GET: (request, params) =>
        found(toEntityResource(findEntity(entities, request, params), request)),
      DELETE: noContent((request, params) =>
        entities.deleteEntity(findEntity(entities, request, params)),
      ),
    },
    "/Entities/{Identity}/Factors": {
      GET(request, params) {
        const factors = entities.listFactors(findEntity(entities, request, params).identity);
        const page = cutPage(factors, request.query, urlOf(request), orderBy("YF"));
        return found(toList("factors", page, (factor) => toFactorResource(factor, request)));
      },
      POST(request, [, identity = ""]) {
        readParameters([["Identity", identity]], NEW_ENTITY);
        const factor = entities.createFactor(identity, readNewFactor(request));
        const { binding } = factor;
        return created({ ...toFactorResource(factor, request), binding, options: null });
      },
    },
    "/Entities/{Identity}/Factors/{Sid}": {
      GET: (request, params) => found(toFactorResource(findFactor(request, params), request)),
      POST(request, params) {
        const factor = findFactor(request, params);
        const isTotp = factor.factor_type === "totp";
        const schema = isTotp ? CHANGED_TOTP_FACTOR : CHANGED_PUSH_FACTOR;
        const given = readParameters(readForm(request), schema);
        if (given.AuthPayload !== undefined) entities.verifyFactor(factor, given.AuthPayload);
        entities.changeFactor(factor, {
          friendly_name: given.FriendlyName ?? factor.friendly_name,
          config: toMembers(given, "Config."),
        });
        return found(toFactorResource(factor, request));
      },
      DELETE: noContent((request, params) => entities.deleteFactor(findFactor(request, params))),
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
      GET(request, [, sid = ""]) {
        const accessToken = accessTokens.find(sid);
        if (accessToken === undefined) throw resourceNotFound(request);
        return found({ ...accessToken, ...owner, url: urlOf(request) });
      },
    },
  };
}

/** Returns the entity of a path. @throws EmulatorError 20404 when it does not exist. */
export function findEntity(
  entities: Entities,
  request: EndpointRequest,
  [, identity = ""]: readonly string[],
): Entity {
  const entity = entities.findEntity(identity);
  if (entity === undefined) throw resourceNotFound(request);
  return entity;
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
