import type { PushEventType } from "../../index";
import { callSafely } from "../../kit/safe-call";
import { isFactorPayload, readDecision } from "./auth-payload";
import type { Challenge, ChallengeDecision, Decision, NewChallenge } from "./entity";
import type { Entity, EventFields, Factor, FactorBinding } from "./entity";
import { expire, readExpirationDate } from "./challenge-expiry";
import { formatIso8601 } from "./dates";
import { EmulatorError } from "../emulator-error";
import { keepNewest } from "../../kit/keep-newest";
import { createSid } from "../../kit/sid";
import { warnOnce } from "../../kit/process-warning";
import { isIdentity } from "./schemas";
import { isTotpCode, type TotpConfig } from "./totp";

type NotificationListener = (challenge: Challenge, key: FactorBinding | undefined) => void;

type FactorFields = Pick<Factor, "factor_type" | "friendly_name" | "config" | "metadata">;

/** How many entities, factors and challenges each are kept; the oldest are removed first. */
const MAX_KEPT = 100_000;

/**
 * The state machine of entities, factors and challenges (specification, section 3.3): a factor is
 * created, verified, deleted; a challenge of a verified factor is approved or denied, once, or it
 * expires. The methods return live objects.
 */
export class Entities {
  readonly #now: () => number;
  /** What happens to an identity that the public service does not accept. */
  readonly #invalidIdentities: "warn" | "reject";
  /** Receives the event of each transition, with its parameters except the uuid. */
  readonly #emit: (type: PushEventType, fields: EventFields) => void;
  /** By identity. */
  readonly #entities = new Map<string, Entity>();
  /** By SID, as the challenges. */
  readonly #factors = new Map<string, Factor>();
  /** A factor without a binding exists only as methods of the emulator. */
  readonly #bindings = new WeakMap<Factor, FactorBinding>();
  readonly #challenges = new Map<string, Challenge>();
  readonly #listeners = new Set<NotificationListener>();

  constructor(
    now: () => number,
    invalidIdentities: "warn" | "reject",
    emit: (type: PushEventType, fields: EventFields) => void,
  ) {
    this.#now = now;
    this.#invalidIdentities = invalidIdentities;
    this.#emit = emit;
  }

  createEntity(identity: string): Entity {
    if (this.#entities.has(identity)) {
      throw new EmulatorError("ALREADY_EXISTS", "An entity with this Identity exists already");
    }
    if (!isIdentity(identity)) {
      const rule = "the public service accepts 8 to 64 letters, digits and dashes";
      if (this.#invalidIdentities === "reject") {
        throw new EmulatorError(
          "PARAMETER_INVALID",
          `Invalid parameter: entity_identity (${rule})`,
        );
      }
      const message = `An entity_identity is not valid: ${rule}. Use such identities also in tests; the option identities: "reject" of createEmulator makes others an error. (Said once.)`;
      warnOnce("IDENTITY_INVALID", message, this);
    }
    const date = this.#readDate();
    const entity = { sid: createSid("YE"), identity, date_created: date, date_updated: date };
    keepNewest(this.#entities, identity, entity, MAX_KEPT);
    return entity;
  }

  findEntity(identity = ""): Entity | undefined {
    return this.#entities.get(identity);
  }

  listEntities(): Iterable<Entity> {
    return this.#entities.values();
  }

  deleteEntity({ identity }: Entity): void {
    this.#entities.delete(identity);
    for (const factor of this.listFactors(identity)) this.deleteFactor(factor);
    for (const [sid, { entity_identity }] of this.#challenges) {
      if (entity_identity === identity) this.#challenges.delete(sid);
    }
  }

  /** Creates a factor, and its entity unless it exists. */
  createFactor(identity: string, fields: FactorFields, binding?: FactorBinding): Factor {
    const entity = this.#entities.get(identity) ?? this.createEntity(identity);
    const date = this.#readDate();
    const factor: Factor = {
      sid: createSid("YF"),
      entity_sid: entity.sid,
      entity_identity: identity,
      ...fields,
      status: "unverified",
      date_created: date,
      date_updated: date,
    };
    if (binding !== undefined) this.#bindings.set(factor, binding);
    keepNewest(this.#factors, factor.sid, factor, MAX_KEPT);
    this.#emit("factor.created", fieldsOf(factor));
    return factor;
  }

  /** Finds a factor, of any entity unless an identity is given. */
  findFactor(sid = "", identity?: string): Factor | undefined {
    const factor = this.#factors.get(sid);
    return identity === undefined || factor?.entity_identity === identity ? factor : undefined;
  }

  listFactors(identity: string): Factor[] {
    return [...this.#factors.values()].filter((factor) => factor.entity_identity === identity);
  }

  markVerified(factor: Factor): Factor {
    if (factor.status === "verified")
      throw createTransitionError(`The factor ${factor.sid} is already verified`);
    Object.assign(factor, { status: "verified", date_updated: this.#readDate() });
    this.#emit("factor.verified", fieldsOf(factor));
    return factor;
  }

  /** Verifies a factor by a payload of its device: a signature, or a one-time password. */
  verifyFactor(factor: Factor, payload: string): Factor {
    const binding = this.#bindings.get(factor);
    const isVerified =
      binding !== undefined && "public_key" in binding
        ? isFactorPayload(binding.public_key, factor.sid, payload)
        : this.#isCode(factor, payload);
    if (!isVerified) {
      throw new EmulatorError("FACTOR_VERIFICATION_FAILED", "Factor verification failed");
    }
    return this.markVerified(factor);
  }

  changeFactor(factor: Factor, friendly_name: string, config: object): void {
    const change = { friendly_name, config: { ...factor.config, ...config } };
    Object.assign(factor, change, { date_updated: this.#readDate() });
  }

  deleteFactor(factor: Factor): void {
    this.#factors.delete(factor.sid);
    this.#emit("factor.deleted", fieldsOf(factor));
  }

  createChallenge(factor: Factor, fields: Omit<NewChallenge, "factor_sid">): Challenge {
    if (factor.status !== "verified") {
      throw new EmulatorError("FACTOR_UNVERIFIED", `The factor ${factor.sid} is not verified`);
    }
    const { message = "", ...details } = fields.details ?? {};
    const date = this.#readDate();
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
      expiration_date: readExpirationDate(fields.expiration_date, this.#now()),
    };
    keepNewest(this.#challenges, challenge.sid, challenge, MAX_KEPT);
    this.notify(challenge);
    return challenge;
  }

  /** Finds a challenge, of any entity unless an identity is given. */
  findChallenge(sid = "", identity?: string): Challenge | undefined {
    const challenge = this.#challenges.get(sid);
    if (identity !== undefined && challenge?.entity_identity !== identity) return undefined;
    return challenge && expire(challenge, this.#now());
  }

  listChallenges(identity: string): Challenge[] {
    return [...this.#challenges.values()]
      .filter((challenge) => challenge.entity_identity === identity)
      .map((challenge) => expire(challenge, this.#now()));
  }

  decide(challenge: Challenge, status: Decision, { metadata }: ChallengeDecision = {}): Challenge {
    const factor = this.#findPendingFactor(challenge);
    const date = this.#readDate();
    Object.assign(challenge, { status, metadata, date_updated: date, date_responded: date });
    this.#emit(`challenge.${status}`, {
      ...fieldsOf(factor),
      challenge_sid: challenge.sid,
      challenge_details: JSON.stringify(challenge.details),
      challenge_hidden_details: JSON.stringify(challenge.hidden_details),
      challenge_metadata: JSON.stringify(metadata),
    });
    return challenge;
  }

  /** Decides a challenge by a payload of its device: a signed decision, or a one-time password. */
  answerChallenge(challenge: Challenge, payload: string, given?: ChallengeDecision): Challenge {
    const factor = this.#findPendingFactor(challenge);
    const binding = this.#bindings.get(factor);
    let status: Decision | undefined;
    if (binding !== undefined && "public_key" in binding) {
      status = readDecision(binding.public_key, challenge, payload);
    } else if (this.#isCode(factor, payload)) status = "approved";
    if (status === undefined) {
      throw new EmulatorError("CHALLENGE_VERIFICATION_FAILED", "Challenge verification failed");
    }
    return this.decide(challenge, status, given);
  }

  /** Notifies the device of a pending challenge, after the response to the current request. */
  notify(challenge: Challenge): void {
    const factor = this.#findPendingFactor(challenge);
    for (const listener of this.#listeners) {
      const notified = () => listener(challenge, this.#bindings.get(factor));
      queueMicrotask(() => callSafely(listener, notified));
    }
  }

  onNotification(listener: NotificationListener): void {
    this.#listeners.add(listener);
  }

  #readDate(): string {
    return formatIso8601(this.#now());
  }

  #isCode(factor: Factor, code: string): boolean {
    const binding = this.#bindings.get(factor);
    if (binding === undefined || !("secret" in binding)) return false;
    return isTotpCode(binding.secret, factor.config as unknown as TotpConfig, code, this.#now());
  }

  #findPendingFactor(challenge: Challenge): Factor {
    const { sid, status } = expire(challenge, this.#now());
    const factor = this.#factors.get(challenge.factor_sid);
    if (factor === undefined) throw createTransitionError(`The factor of ${sid} was deleted`);
    if (status === "expired") {
      throw new EmulatorError("CHALLENGE_EXPIRED", `The challenge ${sid} is expired`);
    }
    if (status !== "pending")
      throw createTransitionError(`The challenge ${sid} is already ${status}`);
    return factor;
  }
}

function fieldsOf(factor: Factor): EventFields {
  return {
    entity_identity: factor.entity_identity,
    factor_sid: factor.sid,
    factor_type: factor.factor_type,
    factor_friendly_name: factor.friendly_name,
    factor_metadata: JSON.stringify(factor.metadata),
  };
}

function createTransitionError(message: string): EmulatorError {
  return new EmulatorError("ILLEGAL_TRANSITION", message);
}
