import { randomInt } from "node:crypto";
import express, { type Response, type Router } from "express";
import type { Challenge, Emulator } from "express-push-verification/emulator";
import type { LoginAttempts } from "./login-attempts";

/** The phone of one user, which the page shows beside the login. */
export interface SimulatedPhone {
  /** Serves the phone to the page: the questions as server-sent events, and the responses. */
  router: Router;
  /** Registers the phone in place of an old one; the emulator sends all three events of factors. */
  register(): void;
  /** Ends the open streams. */
  close(): void;
}

const REFRESH_MS = 500;

/** Simulates the phone of a user: a device of the emulator, with a private key of its own. */
export function createSimulatedPhone(
  emulator: Emulator,
  entityIdentity: string,
  friendlyName: string,
  attempts: LoginAttempts,
): SimulatedPhone {
  const device = emulator.device();
  const questions = new Map<string, Challenge & { numbers: readonly number[] }>();
  const streams = new Set<Response>();
  let shown = "";

  /** Drops the questions that have expired, were answered, or whose login was cancelled. */
  function dropClosed(): void {
    for (const { sid, hidden_details } of questions.values()) {
      const isPending = emulator.fetchChallenge(sid).status === "pending";
      const attempt = hidden_details?.attempt;
      if (!isPending || attempts.find(String(attempt)) === undefined) questions.delete(sid);
    }
  }

  function describe(): string {
    dropClosed();
    const newestFirst = [...questions.values()].toReversed();
    const listed = newestFirst.map(({ sid, details, numbers }) => ({ sid, details, numbers }));
    return JSON.stringify({ name: friendlyName, questions: listed });
  }

  function refresh(): void {
    const text = describe();
    if (text === shown) return;
    shown = text;
    for (const stream of streams) stream.write(`data: ${text}\n\n`);
  }

  device.onChallenge((challenge) => {
    const numbers = new Set([Number(challenge.hidden_details?.number)]);
    while (numbers.size < 3) numbers.add(randomInt(10, 100));
    questions.set(challenge.sid, { ...challenge, numbers: [...numbers].toSorted() });
    refresh();
  });
  // Expiry and cancellation send no notification.
  const timer = setInterval(refresh, REFRESH_MS).unref();

  const router = express.Router();
  router.get("/events", (_req, res) => {
    res.set({ "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    // nginx would hold the questions back.
    res.set("X-Accel-Buffering", "no");
    streams.add(res);
    res.on("close", () => streams.delete(res));
    res.write(`data: ${describe()}\n\n`);
  });
  // The response is "deny" or a number; another number than that of the page denies, too.
  router.post("/challenges/:sid/:response", (req, res) => {
    const { sid, response } = req.params;
    dropClosed();
    const question = questions.get(sid);
    const isApproved = response === question?.hidden_details?.number;
    if (question !== undefined && isApproved) device.approve(sid);
    else if (question !== undefined) device.deny(sid);
    refresh();
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
    close() {
      clearInterval(timer);
      for (const stream of streams) stream.end();
    },
  };
}
