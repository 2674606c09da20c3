import type { Challenge, ChallengeDecision, NewChallenge } from "./entity";
import type { Factor, FactorBinding, NewFactor } from "./entity";
import type { Entities } from "./entities";
import { existing } from "../emulator-error";
import { decisionSchema, newChallengeSchema, newFactorSchema, validateFields } from "./schemas";

/** Methods of an emulator that create and change factors and challenges. They return copies. */
export interface FactorControl {
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
   * Creates a pending challenge and sends no event. Throws `FACTOR_UNVERIFIED` for a factor that is
   * not verified.
   */
  createChallenge(challenge: NewChallenge): Challenge;
  /** Returns a challenge. */
  fetchChallenge(sid: string): Challenge;
  /**
   * Approves a pending challenge and sends `challenge.approved`. Throws `CHALLENGE_EXPIRED`, or
   * `ILLEGAL_TRANSITION` for one that was decided or whose factor was deleted.
   */
  approveChallenge(sid: string, decision?: ChallengeDecision): Challenge;
  /** Denies a pending challenge and sends `challenge.denied`. Throws as `approveChallenge`. */
  denyChallenge(sid: string, decision?: ChallengeDecision): Challenge;
}

/** Creates the methods of an emulator that act on entities for users and devices. */
export function createFactors(entities: Entities): FactorControl {
  const findFactor = (sid: string) => existing(entities.findFactor(sid), `/Factors/${sid}`);

  function decide(sid: string, status: "approved" | "denied", given: ChallengeDecision = {}) {
    const challenge = findChallenge(entities, sid);
    const decision = validateFields(decisionSchema, given);
    return structuredClone(entities.decide(challenge, status, decision));
  }

  return {
    createFactor: (given) => structuredClone(registerFactor(entities, given)),
    fetchFactor: (sid) => structuredClone(findFactor(sid)),
    verifyFactor: (sid) => structuredClone(entities.markVerified(findFactor(sid))),
    deleteFactor: (sid) => entities.deleteFactor(findFactor(sid)),
    createChallenge(given) {
      const { factor_sid, ...fields } = validateFields(newChallengeSchema, given);
      return structuredClone(entities.createChallenge(findFactor(factor_sid), fields));
    },
    fetchChallenge: (sid) => structuredClone(findChallenge(entities, sid)),
    approveChallenge: (sid, decision) => decide(sid, "approved", decision),
    denyChallenge: (sid, decision) => decide(sid, "denied", decision),
  };
}

/** Finds a challenge. @throws EmulatorError 20404 when there is none. */
export function findChallenge(entities: Entities, sid: string): Challenge {
  return existing(entities.findChallenge(sid), `/Challenges/${sid}`);
}

/** Creates a factor from the fields that a method receives. */
export function registerFactor(
  entities: Entities,
  given: NewFactor = {},
  binding?: FactorBinding,
): Factor {
  const { entity_identity, ...fields } = validateFields(newFactorSchema, given);
  return entities.createFactor(entity_identity, { ...fields, config: {} }, binding);
}
