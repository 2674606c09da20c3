/** The parameters of entities, factors and challenges, with the limits of the public service. */
import * as z from "../../validation/zod";
import { metadataSchema } from "../../event/schema";
import { isSid } from "../../form/sid";
import { jsonOf, listOf } from "./parameters";
import { isPublicKey } from "../resources/auth-payload";
import { createTotpSecret } from "../resources/totp";
import { limitJson, textSchema } from "../resources/schemas";

const MAX_JSON_CHARACTERS = 1024;
const BASE32_SECRET = /^[A-Z2-7]{16,128}$/;

const identitySchema = z.string().regex(/^[A-Za-z0-9-]{8,64}$/);
const nameSchema = textSchema.min(1).max(64);
const metadataParameter = jsonOf(limitJson(metadataSchema, MAX_JSON_CHARACTERS));
const payloadSchema = z.string().min(1).max(5456);
const wholeBetween = (min: number, max: number) =>
  z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(min).max(max));

/** Parameters of a new entity. */
export const NEW_ENTITY = z.object({ Identity: identitySchema });

const PUSH_CONFIG = {
  "Config.NotificationToken": z.string().min(32).max(255).optional(),
  "Config.SdkVersion": textSchema.optional(),
};
const PLATFORM = z.enum(["apn", "fcm", "none"]);
const TOTP_CONFIG = {
  "Config.Alg": z.enum(["sha1", "sha256", "sha512"]),
  "Config.TimeStep": wholeBetween(20, 60),
  "Config.Skew": wholeBetween(0, 2),
  "Config.CodeLength": wholeBetween(3, 8),
};
const CHANGE = {
  AuthPayload: payloadSchema.optional(),
  FriendlyName: nameSchema.optional(),
};

/** Parameters of a new factor, by its type. */
export const NEW_FACTOR = z.discriminatedUnion("FactorType", [
  z.object({
    FactorType: z.literal("push"),
    FriendlyName: nameSchema,
    "Binding.Alg": z.literal("ES256"),
    "Binding.PublicKey": z.string().refine(isPublicKey),
    "Config.AppId": textSchema.min(1),
    "Config.NotificationPlatform": PLATFORM,
    ...PUSH_CONFIG,
    Metadata: metadataParameter.optional(),
  }),
  z.object({
    FactorType: z.literal("totp"),
    FriendlyName: nameSchema,
    "Binding.Secret": z.string().regex(BASE32_SECRET).default(createTotpSecret),
    "Config.Alg": TOTP_CONFIG["Config.Alg"].default("sha1"),
    "Config.TimeStep": TOTP_CONFIG["Config.TimeStep"].default(30),
    "Config.Skew": TOTP_CONFIG["Config.Skew"].default(1),
    "Config.CodeLength": TOTP_CONFIG["Config.CodeLength"].default(6),
    Metadata: metadataParameter.optional(),
  }),
]);

/** Parameters that verify or change a factor of the type `push`. */
export const CHANGED_PUSH_FACTOR = z.object({
  ...CHANGE,
  ...PUSH_CONFIG,
  "Config.NotificationPlatform": PLATFORM.optional(),
});

/** Parameters that verify or change a factor of the type `totp`. */
export const CHANGED_TOTP_FACTOR = z.object({
  ...CHANGE,
  ...z.object(TOTP_CONFIG).partial().shape,
});

/** Parameters of a new challenge. */
export const NEW_CHALLENGE = z.object({
  FactorSid: z.string().refine((sid) => isSid("YF", sid)),
  ExpirationDate: z.iso.datetime({ offset: true }).optional(),
  "Details.Message": textSchema.min(1).max(256).optional(),
  "Details.Fields": listOf(
    jsonOf(z.object({ label: z.string().max(36), value: z.string().max(128) })),
  )
    .refine((fields) => fields.length <= 20)
    .optional(),
  HiddenDetails: jsonOf(limitJson(metadataSchema, MAX_JSON_CHARACTERS)).optional(),
  AuthPayload: payloadSchema.optional(),
});
/** Parameters with which a device answers a challenge. */
export const CHANGED_CHALLENGE = z.object({
  AuthPayload: payloadSchema,
  Metadata: metadataParameter.optional(),
});
/** Parameters of a list of challenges. */
export const CHALLENGE_FILTER = z.object({
  FactorSid: z.string().optional(),
  Status: z.enum(["pending", "expired", "approved", "denied"]).optional(),
  Order: z.enum(["asc", "desc"]).default("asc"),
});
/** Parameters of a notification. */
export const NEW_NOTIFICATION = z.object({ Ttl: wholeBetween(0, 300).default(300) });
/** Parameters of an access token. */
export const NEW_ACCESS_TOKEN = z.object({
  Identity: identitySchema,
  FactorType: z.literal("push"),
  FactorFriendlyName: nameSchema.optional(),
  Ttl: wholeBetween(60, 300).default(60),
});
