import type { EventParameters } from "../../form/event-parameters";
import type { PushEventType } from "../../event/event";
import { callSafely } from "../../observability/safe-call";
import type { Decision } from "../../signature/device-key";
import { isFactorPayload, readDecision } from "./auth-payload";
import type { Challenge, ChallengeDecision, NewChallenge } from "./entity";
import type { Entity, Factor, FactorBinding } from "./entity";
import { formatIso8601 } from "./dates";
import { EmulatorError } from "../emulator-error";
import { keepNewest } from "../../memory/keep-newest";
import { createSid } from "../../form/sid";
import { isTotpCode, type TotpConfig } from "./totp";

/** Receives a challenge that its device is notified of, and the key of the device. */
type NotificationListener = (challenge: Challenge, key: FactorBinding | undefined) => void;

type FactorFields = Pick<Factor, "factor_type" | "friendly_name" | "config" | "metadata">;

/** How many entities, factors and challenges each are kept; the oldest are removed first. */
const MAX_KEPT = 100_000;
const DEFAULT_EXPIRATION_MS = 300_000;
const MAX_EXPIRATION_MS = 3_600_000;

/** Stored entities with their factors and challenges. */
export type Entities = ReturnType<typeof createEntities>;

/**
 * Creates the state machine of entities, factors and challenges (specification, section 3.3): a
 * factor is created, verified, deleted; a challenge of a verified factor is approved or denied, once,
 * or it expires. Its methods return live objects.
 *
 * @param emit receives the event of each transition, with its parameters except the uuid.
 */
export function createEntities(
  now: () => number,
  emit: (type: PushEventType, fields: EventParameters) => void,
) {
  const entities = new Map<string, Entity>();
  const factors = new Map<string, Factor>();
  /** A factor without a binding exists only as methods of the emulator. */
  const bindings = new WeakMap<Factor, FactorBinding>();
  const challenges = new Map<string, Challenge>();
  const listeners = new Set<NotificationListener>();
  const readDate = () => formatIso8601(now());

  function createEntity(identity: string): Entity {
    if (entities.has(identity)) {
      throw new EmulatorError("ALREADY_EXISTS", "An entity with this Identity exists already");
    }
    const date = readDate();
    const entity = { sid: createSid("YE"), identity, date_created: date, date_updated: date };
    keepNewest(entities, identity, entity, MAX_KEPT);
    return entity;
  }

  function isCode(factor: Factor, code: string): boolean {
    const binding = bindings.get(factor);
    if (binding === undefined || !("secret" in binding)) return false;
    return isTotpCode(binding.secret, factor.config as unknown as TotpConfig, code, now());
  }

  function deleteFactor(factor: Factor): void {
    factors.delete(factor.sid);
    emit("factor.deleted", fieldsOf(factor));
  }

  function markVerified(factor: Factor): Factor {
    if (factor.status === "verified") throw illegal(`The factor ${factor.sid} is already verified`);
    Object.assign(factor, { status: "verified", date_updated: readDate() });
    emit("factor.verified", fieldsOf(factor));
    return factor;
  }

  /** Lets a challenge expire whose time is over, and returns it. */
  function readChallenge(challenge: Challenge): Challenge {
    const { status, expiration_date } = challenge;
    if (status === "pending" && now() >= Date.parse(expiration_date)) {
      Object.assign(challenge, { status: "expired", date_updated: expiration_date });
    }
    return challenge;
  }

  function findPendingFactor(challenge: Challenge): Factor {
    const { sid, status } = readChallenge(challenge);
    const factor = factors.get(challenge.factor_sid);
    if (factor === undefined) throw illegal(`The factor of ${sid} was deleted`);
    if (status === "expired") {
      throw new EmulatorError("CHALLENGE_EXPIRED", `The challenge ${sid} is expired`);
    }
    if (status !== "pending") throw illegal(`The challenge ${sid} is already ${status}`);
    return factor;
  }

  function readExpiration(given: string | undefined): string {
    const ms = given === undefined ? now() + DEFAULT_EXPIRATION_MS : Date.parse(given);
    const expirationDate = formatIso8601(ms);
    const remainingMs = Date.parse(expirationDate) - now();
    if (remainingMs <= 0 || remainingMs > MAX_EXPIRATION_MS) {
      const message = "Invalid parameter: ExpirationDate (must be within the next 60 minutes)";
      throw new EmulatorError("REQUEST_INVALID", message);
    }
    return expirationDate;
  }

  /** Notifies the device of a pending challenge, after the response to the current request. */
  function notify(challenge: Challenge): void {
    const factor = findPendingFactor(challenge);
    for (const listener of listeners) {
      const notified = () => listener(challenge, bindings.get(factor));
      queueMicrotask(() => void callSafely(listener, notified));
    }
  }

  function decide(
    challenge: Challenge,
    status: Decision,
    { metadata }: ChallengeDecision = {},
  ): Challenge {
    const factor = findPendingFactor(challenge);
    const date = readDate();
    Object.assign(challenge, { status, metadata, date_updated: date, date_responded: date });
    emit(`challenge.${status}`, {
      ...fieldsOf(factor),
      challenge_sid: challenge.sid,
      challenge_details: JSON.stringify(challenge.details),
      challenge_hidden_details: JSON.stringify(challenge.hidden_details),
      challenge_metadata: JSON.stringify(metadata),
    });
    return challenge;
  }

  return {
    createEntity,
    findEntity: (identity = "") => entities.get(identity),
    listEntities: (): Iterable<Entity> => entities.values(),
    deleteEntity({ identity }: Entity): void {
      entities.delete(identity);
      for (const factor of factors.values()) {
        if (factor.entity_identity === identity) deleteFactor(factor);
      }
      for (const [sid, { entity_identity }] of challenges) {
        if (entity_identity === identity) challenges.delete(sid);
      }
    },
    /** Creates a factor, and its entity unless it exists. */
    createFactor(identity: string, fields: FactorFields, binding?: FactorBinding): Factor {
      const entity = entities.get(identity) ?? createEntity(identity);
      const date = readDate();
      const factor: Factor = {
        sid: createSid("YF"),
        entity_sid: entity.sid,
        entity_identity: identity,
        ...fields,
        status: "unverified",
        date_created: date,
        date_updated: date,
      };
      if (binding !== undefined) bindings.set(factor, binding);
      keepNewest(factors, factor.sid, factor, MAX_KEPT);
      emit("factor.created", fieldsOf(factor));
      return factor;
    },
    /** Finds a factor, of any entity unless an identity is given. */
    findFactor(sid = "", identity?: string): Factor | undefined {
      const factor = factors.get(sid);
      return identity === undefined || factor?.entity_identity === identity ? factor : undefined;
    },
    listFactors: (identity: string) =>
      [...factors.values()].filter((factor) => factor.entity_identity === identity),
    markVerified,
    /** Verifies a factor by a payload of its device: a signature, or a one-time password. */
    verifyFactor(factor: Factor, payload: string): Factor {
      const binding = bindings.get(factor);
      const isVerified =
        binding !== undefined && "public_key" in binding
          ? isFactorPayload(binding.public_key, factor.sid, payload)
          : isCode(factor, payload);
      if (!isVerified) {
        throw new EmulatorError("FACTOR_VERIFICATION_FAILED", "Factor verification failed");
      }
      return markVerified(factor);
    },
    changeFactor(factor: Factor, friendly_name: string, config: object): void {
      const change = { friendly_name, config: { ...factor.config, ...config } };
      Object.assign(factor, change, { date_updated: readDate() });
    },
    deleteFactor,
    createChallenge(factor: Factor, fields: Omit<NewChallenge, "factor_sid">): Challenge {
      if (factor.status !== "verified") {
        throw new EmulatorError("FACTOR_UNVERIFIED", `The factor ${factor.sid} is not verified`);
      }
      const { message = "", ...details } = fields.details ?? {};
      const date = readDate();
      const challenge: Challenge = {
        sid: createSid("YC"),
        factor_sid: factor.sid,
        factor_type: factor.factor_type,
        entity_sid: factor.entity_sid,
        entity_identity: factor.entity_identity,
        // In the order of the specification (section 6.2).
        details: { message, date, fields: [], ...details },
        hidden_details: fields.hidden_details,
        status: "pending",
        date_created: date,
        date_updated: date,
        expiration_date: readExpiration(fields.expiration_date),
      };
      keepNewest(challenges, challenge.sid, challenge, MAX_KEPT);
      notify(challenge);
      return challenge;
    },
    /** Finds a challenge, of any entity unless an identity is given. */
    findChallenge(sid = "", identity?: string): Challenge | undefined {
      const challenge = challenges.get(sid);
      if (identity !== undefined && challenge?.entity_identity !== identity) return undefined;
      return challenge && readChallenge(challenge);
    },
    listChallenges: (identity: string) =>
      [...challenges.values()]
        .filter((challenge) => challenge.entity_identity === identity)
        .map(readChallenge),
    decide,
    /** Decides a challenge by a payload of its device: a signed decision, or a one-time password. */
    answerChallenge(challenge: Challenge, payload: string, given?: ChallengeDecision): Challenge {
      const factor = findPendingFactor(challenge);
      const binding = bindings.get(factor);
      let status: Decision | undefined;
      if (binding !== undefined && "public_key" in binding) {
        status = readDecision(binding.public_key, challenge, payload);
      } else if (isCode(factor, payload)) status = "approved";
      if (status === undefined) {
        throw new EmulatorError("CHALLENGE_VERIFICATION_FAILED", "Challenge verification failed");
      }
      return decide(challenge, status, given);
    },
    notify,
    onNotification: (listener: NotificationListener) => void listeners.add(listener),
  };
}

function fieldsOf(factor: Factor): EventParameters {
  return {
    entity_identity: factor.entity_identity,
    factor_sid: factor.sid,
    factor_type: factor.factor_type,
    factor_friendly_name: factor.friendly_name,
    factor_metadata: JSON.stringify(factor.metadata),
  };
}

function illegal(message: string): EmulatorError {
  return new EmulatorError("ILLEGAL_TRANSITION", message);
}
