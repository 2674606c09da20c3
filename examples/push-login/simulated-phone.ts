import express, { type Response, type Router } from "express";
import type { Challenge, Emulator } from "express-push-verification/emulator";
import type { RegisteredPhone } from "./verification-service";

/** The phone of one user, which the page shows beside the login. */
export interface SimulatedPhone {
  /** Serves the phone to the page: the questions as server-sent events, and both responses. */
  router: Router;
  /** Registers the phone in place of an old one; the emulator sends all three events of factors. */
  register(): void;
  findFactor(entityIdentity: string): RegisteredPhone | undefined;
  /** Shows a question until the user has responded to it. */
  show(challenge: Challenge): void;
  /** Ends the open streams. */
  close(): void;
}

const MAX_QUESTIONS = 20;

/** Simulates the phone of a user of the emulator. */
export function createSimulatedPhone(
  emulator: Emulator,
  entityIdentity: string,
  friendlyName: string,
): SimulatedPhone {
  let phone: RegisteredPhone | undefined;
  const questions = new Map<string, Challenge>();
  const streams = new Set<Response>();

  const writeTo = (stream: Response) => {
    const newestFirst = [...questions.values()].toReversed();
    const shown = newestFirst.map(({ sid, details }) => ({ sid, details }));
    stream.write(`data: ${JSON.stringify({ name: friendlyName, questions: shown })}\n\n`);
  };
  const refresh = () => streams.forEach(writeTo);

  function registerFactor(name: string): RegisteredPhone {
    const factor = { entity_identity: entityIdentity, friendly_name: name };
    const { sid } = emulator.createFactor(factor);
    emulator.verifyFactor(sid);
    return { factor_sid: sid, friendly_name: name };
  }

  const router = express.Router();
  router.get("/events", (_req, res) => {
    res.set({ "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    streams.add(res);
    res.on("close", () => streams.delete(res));
    writeTo(res);
  });
  router.post("/challenges/:sid/:response", (req, res) => {
    const { sid, response } = req.params;
    const isKnown = ["approve", "deny"].includes(response) && questions.delete(sid);
    if (isKnown && response === "approve") emulator.approveChallenge(sid);
    else if (isKnown) emulator.denyChallenge(sid);
    refresh();
    res.sendStatus(isKnown ? 204 : 404);
  });

  return {
    router,
    register() {
      const old = registerFactor("Old phone");
      phone = registerFactor(friendlyName);
      emulator.deleteFactor(old.factor_sid);
    },
    findFactor: (identity) => (identity === entityIdentity ? phone : undefined),
    show(challenge) {
      const [oldest] = questions.keys();
      if (questions.size >= MAX_QUESTIONS && oldest !== undefined) questions.delete(oldest);
      questions.set(challenge.sid, challenge);
      refresh();
    },
    close() {
      for (const stream of streams) stream.end();
    },
  };
}
