import * as z from "zod";
import { created, entityUrlOf, type Endpoints, type EndpointRequest } from "./endpoint-router";
import { listPage } from "./pagination";
import { group, metadataParameter, nameSchema, payloadSchema, wholeBetween } from "./parameters";
import { readForm, readParameters } from "./parameters";
import type { AccessTokens } from "../resources/access-tokens";
import type { Entities } from "../resources/entities";
import type { Entity, Factor } from "../resources/entity";
import { existing } from "../emulator-error";
import type { EmulatorSettings } from "../options";
import { isPublicKey } from "../resources/auth-payload";
import { isIdentity, textSchema } from "../resources/schemas";
import { createTotpSecret, createTotpUri } from "../resources/totp";

const identitySchema = z.string().refine(isIdentity);
const publicKeySchema = z
  .string()
  .refine(
    isPublicKey,
    "must be base64 of the DER encoding (SPKI) of a P-256 public key; not PEM, JWK or raw",
  );
const secretSchema = z.string().regex(/^[A-Z2-7]{16,128}$/);
const pushConfig = {
  notification_platform: z.enum(["apn", "fcm", "none"]),
  notification_token: z.string().min(32).max(255).optional(),
  sdk_version: textSchema.optional(),
};
const totpConfig = {
  alg: z.enum(["sha1", "sha256", "sha512"]),
  time_step: wholeBetween(20, 60),
  skew: wholeBetween(0, 2),
  code_length: wholeBetween(3, 8),
};

const named = { friendly_name: nameSchema, metadata: metadataParameter.optional() };
const NEW_ENTITY = z.object({ identity: identitySchema });
const NEW_FACTOR = z.discriminatedUnion("factor_type", [
  z.object({
    factor_type: z.literal("push"),
    ...named,
    binding: group({ alg: z.literal("ES256"), public_key: publicKeySchema }),
    config: group({ app_id: textSchema.min(1), ...pushConfig }),
  }),
  z.object({
    factor_type: z.literal("totp"),
    ...named,
    binding: group({ secret: secretSchema.default(createTotpSecret) }),
    config: group({
      alg: totpConfig.alg.default("sha1"),
      time_step: totpConfig.time_step.default(30),
      skew: totpConfig.skew.default(1),
      code_length: totpConfig.code_length.default(6),
    }),
  }),
]);
const change = { auth_payload: payloadSchema.optional(), friendly_name: nameSchema.optional() };
const CHANGED_FACTOR = {
  push: z.object({ ...change, config: group(z.object(pushConfig).partial().shape) }),
  totp: z.object({ ...change, config: group(z.object(totpConfig).partial().shape) }),
};
const NEW_ACCESS_TOKEN = z.object({
  identity: identitySchema,
  factor_type: z.literal("push"),
  factor_friendly_name: nameSchema.nullable().default(null),
  ttl: wholeBetween(60, 300).default(60),
});

/**
 * Creates the endpoints of entities, factors and access tokens, as the verification API of the public
 * service has them. Their paths follow the path of the service.
 */
export function createEntityEndpoints(
  { accountSid, serviceSid }: EmulatorSettings,
  entities: Entities,
  accessTokens: AccessTokens,
): Endpoints {
  const owner = { account_sid: accountSid, service_sid: serviceSid };

  const findEntity = ({ params, path }: EndpointRequest) =>
    existing(entities.findEntity(params[1]), path);
  const findFactor = ({ params, path }: EndpointRequest) =>
    existing(entities.findFactor(params[2], params[1]), path);

  function toEntityResource(entity: Entity, request: EndpointRequest) {
    const url = entityUrlOf(request, entity.identity);
    const [factors, challenges] = [`${url}/Factors`, `${url}/Challenges`];
    const links = { factors, new_factors: factors, challenges, new_challenge: challenges };
    return { ...entity, ...owner, url, links };
  }

  function toFactorResource(stored: Factor, request: EndpointRequest) {
    const { entity_identity: identity, metadata = null, ...factor } = stored;
    const url = `${entityUrlOf(request, identity)}/Factors/${factor.sid}`;
    return { ...factor, ...owner, identity, metadata, url };
  }

  return {
    "/Entities": {
      GET: (request) =>
        listPage(request, "entities", "YE", entities.listEntities(), toEntityResource),
      POST(request) {
        const { identity } = readParameters(readForm(request), NEW_ENTITY);
        return created(toEntityResource(entities.createEntity(identity), request));
      },
    },
    "/Entities/{Identity}": {
      GET: (request) => toEntityResource(findEntity(request), request),
      DELETE: (request) => entities.deleteEntity(findEntity(request)),
    },
    "/Entities/{Identity}/Factors": {
      GET(request) {
        const factors = entities.listFactors(findEntity(request).identity);
        return listPage(request, "factors", "YF", factors, toFactorResource);
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
      GET: (request) => toFactorResource(findFactor(request), request),
      POST(request) {
        const factor = findFactor(request);
        const schema = CHANGED_FACTOR[factor.factor_type === "totp" ? "totp" : "push"];
        const given = readParameters(readForm(request), schema);
        if (given.auth_payload !== undefined) entities.verifyFactor(factor, given.auth_payload);
        entities.changeFactor(factor, given.friendly_name ?? factor.friendly_name, given.config);
        return toFactorResource(factor, request);
      },
      DELETE: (request) => entities.deleteFactor(findFactor(request)),
    },
    "/AccessTokens": {
      POST(request) {
        const { identity, ...given } = readParameters(readForm(request), NEW_ACCESS_TOKEN);
        const accessToken = accessTokens.create({ entity_identity: identity, ...given });
        return created({ ...accessToken, ...owner, url: `${request.url}/${accessToken.sid}` });
      },
    },
    "/AccessTokens/{Sid}": {
      GET(request) {
        const accessToken = existing(accessTokens.find(request.params[1]), request.path);
        return { ...accessToken, ...owner, url: request.url };
      },
    },
  };
}

function readNewFactor(request: EndpointRequest) {
  const given = readParameters(readForm(request), NEW_FACTOR);
  if (given.factor_type === "push") return given;
  const { friendly_name, binding, config } = given;
  const uri = createTotpUri(friendly_name, binding.secret, config);
  return { ...given, binding: { ...binding, uri } };
}
