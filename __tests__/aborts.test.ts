/**
 * Each public function that takes a signal: aborted before, and in each of its waits; the client's:
 * admin/client/aborts.test.ts, a wait's: core/delivery/challenge-wait.test.ts.
 */
import { getEventListeners } from "node:events";
import { sendRequest } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
import { REASON } from "./support/aborts";
import { readLibrary } from "./support/docs";
import { startServer, stopServers } from "./support/servers";
import { createGate } from "./support/waiting";
import { AUTH_TOKEN } from "./support/webhook-requests";

afterEach(stopServers);

it("has the options of all functions with a signal", () => {
  const found = readLibrary().matchAll(
    /^export interface (\w+)[^}]*^ {2}(?:readonly )?signal\?:/gm,
  );
  expect(Array.from(found, ([, name]) => name).toSorted()).toEqual([
    "OutcomeWait",
    "RequestOptions",
    "SendRequestOptions",
    "WaitOptions",
  ]);
});

it("sendRequest ends before and while it waits", async () => {
  const url = `http://127.0.0.1:${await startServer(() => {})}/push`;
  const request = signedRequest({ authToken: AUTH_TOKEN, publicUrl: url }, "factor.created");
  const stop = new AbortController();
  const { opened: isSent, open: onSent } = createGate();
  const running = sendRequest(request, { signal: stop.signal, onSent });
  await isSent;
  stop.abort(REASON);
  for (const aborted of [running, sendRequest(request, { signal: stop.signal })]) {
    await expect(aborted).rejects.toMatchObject({
      code: "ABORTED",
      isConnectionFailure: false,
      cause: REASON,
    });
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  }
});
