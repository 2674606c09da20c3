import { Es256Key } from "../../kit/es256-key";
import { listSignedMembers } from "./auth-payload";
import type { Challenge, ChallengeDecision, Decision, Factor, NewFactor } from "./entity";
import type { Entities } from "./entities";
import { findChallenge, registerFactor } from "./factor-control";
import { decisionSchema, validateFields } from "./schemas";

/**
 * Device of a user, with a private key of its own. It answers with signatures, which the emulator
 * verifies as it verifies an `AuthPayload` that arrives over HTTP.
 */
export interface Device {
  /** The parameter `Binding.PublicKey` of a new factor: base64 of the DER encoding. */
  readonly publicKey: string;
  /** Registers the device: creates a factor with its key and verifies it. Sends both events. */
  register(factor?: NewFactor): Factor;
  /** Returns the `AuthPayload` that verifies a factor with the key of this device. */
  signFactor(factorSid: string): string;
  /** Returns the `AuthPayload` that approves or denies a challenge. */
  signChallenge(challengeSid: string, status: Decision): string;
  /**
   * Approves a challenge. Throws `CHALLENGE_EXPIRED`, `CHALLENGE_VERIFICATION_FAILED` for a challenge
   * of another device, or `ILLEGAL_TRANSITION` for one that was decided.
   */
  approve(challengeSid: string, decision?: ChallengeDecision): Challenge;
  /** Denies a challenge. Throws as `approve`. */
  deny(challengeSid: string, decision?: ChallengeDecision): Challenge;
  /** Adds a listener that receives a copy of each challenge that the device is notified of. */
  onChallenge(listener: (challenge: Challenge) => void): void;
}

/** Creates a device with a new key on the curve P-256. */
export function createDevice(entities: Entities): Device {
  const key = new Es256Key();
  const { publicKey } = key;

  const sign = (sid: string, status: Decision) =>
    key.signToken({ ...listSignedMembers(findChallenge(entities, sid)), status });

  function answer(sid: string, status: Decision, given: ChallengeDecision = {}): Challenge {
    const decision = validateFields(decisionSchema, given);
    const challenge = findChallenge(entities, sid);
    return structuredClone(entities.answerChallenge(challenge, sign(sid, status), decision));
  }

  return {
    publicKey,
    register(given) {
      const factor = registerFactor(entities, given, { alg: "ES256", public_key: publicKey });
      const payload = key.signText(factor.sid);
      return structuredClone(entities.verifyFactor(factor, payload));
    },
    signFactor: (sid) => key.signText(sid),
    signChallenge: sign,
    approve: (sid, decision) => answer(sid, "approved", decision),
    deny: (sid, decision) => answer(sid, "denied", decision),
    onChallenge(listener) {
      entities.onNotification((challenge, binding) => {
        const isMine =
          binding !== undefined && "public_key" in binding && binding.public_key === publicKey;
        if (isMine) listener(structuredClone(challenge));
      });
    },
  };
}
