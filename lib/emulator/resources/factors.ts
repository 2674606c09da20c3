import type { EventParameters } from "../../form/parameters";
import type { PushEventType } from "../../event/event";
import type { Challenge, ChallengeDecision, NewChallenge } from "./challenge";
import { formatIso8601, readSeconds, type Clock } from "./dates";
import { EmulatorError, notFound } from "../emulator-error";
import type { Factor, NewFactor } from "./factor";
import { decisionSchema, newChallengeSchema, newFactorSchema, validateFields } from "./schemas";
import { createSid } from "./sids";

const DEFAULT_EXPIRATION_SECONDS = 300;
const MAX_EXPIRATION_SECONDS = 3_600;

/** Receives the event of each transition, with its parameters except the uuid. */
export type EmitEvent = (type: PushEventType, fields: EventParameters) => void;

/** Methods of an emulator that create and change factors and challenges. They return copies. */
export interface Factors {
  /** Creates an unverified factor and sends `factor.created`. */
  createFactor(factor?: NewFactor): Factor;
  /** Returns a factor. */
  fetchFactor(sid: string): Factor;
  /**
   * Verifies a factor, so that it can receive challenges, and sends `factor.verified`. Throws
   * `ILLEGAL_TRANSITION` for a factor that is verified.
   */
  verifyFactor(sid: string): Factor;
  /** Deletes a factor and sends `factor.deleted`. Its challenges can no longer be decided. */
  deleteFactor(sid: string): void;
  /**
   * Creates a pending challenge and sends no event. Throws `ILLEGAL_TRANSITION` for a factor that is
   * not verified.
   */
  createChallenge(challenge: NewChallenge): Challenge;
  /** Returns a challenge. */
  fetchChallenge(sid: string): Challenge;
  /**
   * Approves a pending challenge and sends `challenge.approved`. Throws `ILLEGAL_TRANSITION` for one
   * that was decided, expired, or whose factor was deleted.
   */
  approveChallenge(sid: string, decision?: ChallengeDecision): Challenge;
  /** Denies a pending challenge and sends `challenge.denied`. Throws as `approveChallenge`. */
  denyChallenge(sid: string, decision?: ChallengeDecision): Challenge;
}

/**
 * Creates the state machine of factors and challenges (specification, section 3.3): a factor is
 * created, verified, deleted; a challenge of a verified factor is approved or denied, once.
 *
 * @param maxKept the number of factors, and of challenges, to keep; the oldest are removed first.
 */
export function createFactors(now: Clock, emit: EmitEvent, maxKept = 100_000): Factors {
  /** SID of each entity, by identity. */
  const entities = new Map<string, string>();
  const factors = new Map<string, Factor>();
  const challenges = new Map<string, Challenge>();
  const timestamp = () => formatIso8601(readSeconds(now));

  /** Finds a challenge; one whose time is over becomes expired. */
  function findChallenge(sid: string): Challenge {
    const challenge = find(challenges, "Challenges", sid);
    const { status, expiration_date } = challenge;
    if (status === "pending" && now() >= Date.parse(expiration_date)) {
      Object.assign(challenge, { status: "expired", date_updated: expiration_date });
    }
    return challenge;
  }

  function readExpiration(given: string | undefined): string {
    const seconds = readSeconds(now);
    if (given === undefined) return formatIso8601(seconds + DEFAULT_EXPIRATION_SECONDS);
    const expirationSeconds = Math.floor(Date.parse(given) / 1000);
    if (expirationSeconds <= seconds || expirationSeconds > seconds + MAX_EXPIRATION_SECONDS) {
      const message = "Invalid parameter: expiration_date (must be within the next 60 minutes)";
      throw new EmulatorError("PARAMETER_INVALID", message);
    }
    return formatIso8601(expirationSeconds);
  }

  function decide(sid: string, status: "approved" | "denied", decision: ChallengeDecision) {
    const challenge = findChallenge(sid);
    const { metadata } = structuredClone(validateFields(decisionSchema, decision));
    const factor = factors.get(challenge.factor_sid);
    if (factor === undefined) throw illegal(`The factor of ${sid} was deleted`);
    if (challenge.status !== "pending") {
      throw illegal(`The challenge ${sid} is already ${challenge.status}`);
    }
    const date = timestamp();
    Object.assign(challenge, { status, metadata, date_updated: date, date_responded: date });
    emit(`challenge.${status}`, { ...fieldsOf(factor), ...challengeFieldsOf(challenge) });
    return structuredClone(challenge);
  }

  return {
    createFactor(given = {}) {
      const fields = structuredClone(validateFields(newFactorSchema, given));
      const date = timestamp();
      const entity_sid = entities.get(fields.entity_identity) ?? createSid("YE");
      entities.set(fields.entity_identity, entity_sid);
      const factor: Factor = {
        sid: createSid("YF"),
        entity_sid,
        ...fields,
        status: "unverified",
        date_created: date,
        date_updated: date,
      };
      keep(factors, factor, maxKept);
      emit("factor.created", fieldsOf(factor));
      return structuredClone(factor);
    },
    fetchFactor: (sid) => structuredClone(find(factors, "Factors", sid)),
    verifyFactor(sid) {
      const factor = find(factors, "Factors", sid);
      if (factor.status === "verified") throw illegal(`The factor ${sid} is already verified`);
      Object.assign(factor, { status: "verified", date_updated: timestamp() });
      emit("factor.verified", fieldsOf(factor));
      return structuredClone(factor);
    },
    deleteFactor(sid) {
      const factor = find(factors, "Factors", sid);
      factors.delete(sid);
      emit("factor.deleted", fieldsOf(factor));
    },
    createChallenge(given) {
      const fields = structuredClone(validateFields(newChallengeSchema, given));
      const { factor_sid, details, hidden_details, expiration_date } = fields;
      const { message, ...more } = details;
      const factor = find(factors, "Factors", factor_sid);
      if (factor.status !== "verified") {
        throw illegal(`The factor ${factor_sid} is not verified: it cannot receive challenges yet`);
      }
      const date = timestamp();
      const challenge: Challenge = {
        sid: createSid("YC"),
        factor_sid,
        factor_type: factor.factor_type,
        entity_sid: factor.entity_sid,
        entity_identity: factor.entity_identity,
        // In the order of the specification (section 6.2).
        details: { message, date, fields: [], ...more },
        hidden_details,
        status: "pending",
        date_created: date,
        date_updated: date,
        expiration_date: readExpiration(expiration_date),
      };
      keep(challenges, challenge, maxKept);
      return structuredClone(challenge);
    },
    fetchChallenge: (sid) => structuredClone(findChallenge(sid)),
    approveChallenge: (sid, decision = {}) => decide(sid, "approved", decision),
    denyChallenge: (sid, decision = {}) => decide(sid, "denied", decision),
  };
}

function find<Kept>(kept: ReadonlyMap<string, Kept>, path: string, sid: string): Kept {
  const one = kept.get(sid);
  if (one === undefined) throw notFound(`/${path}/${sid}`);
  return one;
}

function keep<Kept extends { sid: string }>(kept: Map<string, Kept>, one: Kept, max: number): void {
  kept.set(one.sid, one);
  for (const sid of kept.keys()) {
    if (kept.size <= max) return;
    kept.delete(sid);
  }
}

function fieldsOf(factor: Factor): EventParameters {
  return {
    entity_identity: factor.entity_identity,
    factor_sid: factor.sid,
    factor_type: factor.factor_type,
    factor_friendly_name: factor.friendly_name,
    factor_metadata: factor.metadata && JSON.stringify(factor.metadata),
  };
}

function challengeFieldsOf(challenge: Challenge): EventParameters {
  const { hidden_details, metadata } = challenge;
  return {
    challenge_sid: challenge.sid,
    challenge_details: JSON.stringify(challenge.details),
    challenge_hidden_details: hidden_details && JSON.stringify(hidden_details),
    challenge_metadata: metadata && JSON.stringify(metadata),
  };
}

function illegal(message: string): EmulatorError {
  return new EmulatorError("ILLEGAL_TRANSITION", message);
}
