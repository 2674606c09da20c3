import { randomInt } from "node:crypto";
import express, { type Router } from "express";
import type { Challenge, Emulator } from "express-push-verification/emulator";
import type { LoginAttempts } from "./login-attempts";

/** The phone of one user, which the page shows beside the login. */
export interface SimulatedPhone {
  /** Serves the phone to the page: its questions, and the responses. */
  router: Router;
  /** Registers the phone in place of an old one; the emulator sends all three events of factors. */
  register(): void;
}

/** Simulates the phone of a user: a device of the emulator, with a private key of its own. */
export function createSimulatedPhone(
  emulator: Emulator,
  entityIdentity: string,
  friendlyName: string,
  attempts: LoginAttempts,
): SimulatedPhone {
  const device = emulator.device();
  const questions = new Map<string, Challenge & { numbers: readonly number[] }>();

  /** Drops the questions that have expired, were answered, or whose login was cancelled. */
  function dropClosed(): void {
    for (const { sid, hidden_details } of questions.values()) {
      const isPending = emulator.fetchChallenge(sid).status === "pending";
      const attempt = hidden_details?.attempt;
      if (!isPending || attempts.find(String(attempt)) === undefined) questions.delete(sid);
    }
  }

  device.onChallenge((challenge) => {
    const numbers = new Set([Number(challenge.hidden_details?.number)]);
    while (numbers.size < 3) numbers.add(randomInt(10, 100));
    questions.set(challenge.sid, { ...challenge, numbers: [...numbers].toSorted() });
  });

  const router = express.Router();
  router.get("/questions", (_req, res) => {
    dropClosed();
    const newestFirst = [...questions.values()].toReversed();
    const listed = newestFirst.map(({ sid, details, numbers }) => ({ sid, details, numbers }));
    res.set("Cache-Control", "no-store").json({ name: friendlyName, questions: listed });
  });
  // The response is "deny" or a number; another number than that of the page denies, too.
  router.post("/challenges/:sid/:response", (req, res) => {
    const { sid, response } = req.params;
    dropClosed();
    const question = questions.get(sid);
    const isApproved = response === question?.hidden_details?.number;
    if (question !== undefined && isApproved) device.approve(sid);
    else if (question !== undefined) device.deny(sid);
    if (question === undefined) res.sendStatus(404);
    else res.json({ isApproved });
  });

  return {
    router,
    register() {
      const factor = { entity_identity: entityIdentity };
      const old = emulator.device().register({ ...factor, friendly_name: "Old phone" });
      device.register({ ...factor, friendly_name: friendlyName });
      emulator.deleteFactor(old.sid);
    },
  };
}
