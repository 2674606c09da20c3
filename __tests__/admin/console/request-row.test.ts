import { PermanentError, pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { toRequestRow, type RowContext } from "../../../lib/admin/console/request-row";
import {
  inspectReceiver,
  type ObservedRequest,
  type ReceiverInspection,
} from "../../../lib/receiver/inspection";
import { send, startServer, stopServers } from "../../support/servers";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventRequest,
  FACTOR_SID,
  PUBLIC_URL,
  type TestRequest,
} from "../../support/webhook-requests";

afterEach(stopServers);

const CONTEXT: RowContext = { change: 7, attempt: 2, reveals: false, hasQueue: false };

/** What a receiver reports about a request. */
async function observe(request: TestRequest, options: Partial<PushWebhooksOptions> = {}) {
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, ...options });
  const observed: ObservedRequest[] = [];
  (inspectReceiver(push) as ReceiverInspection).observe((one) => void observed.push(one));
  push.onError(() => {});
  push.on("challenge.denied", () => {
    throw new PermanentError("no such user user-7f3a-22");
  });
  const port = await startServer((req, res) => void push(req, res));
  await send(port, request);
  return observed[0] as ObservedRequest;
}

describe("toRequestRow", () => {
  it("shows an event by its SIDs, with its identity masked and without its texts", async () => {
    const startMs = Date.now();
    const observed = await observe(eventRequest("challenge.approved", { uuid: "a" }));
    const row = toRequestRow(observed, CONTEXT);
    expect(row).toEqual({
      id: 1,
      change: 7,
      atMs: expect.any(Number),
      durationMs: observed.durationMs,
      result: "handled",
      status: 200,
      code: undefined,
      message: undefined,
      failure: undefined,
      attempt: 2,
      type: "challenge.approved",
      version: "v2",
      uuid: "a",
      accountSid: ACCOUNT_SID,
      factorSid: FACTOR_SID,
      challengeSid: CHALLENGE_SID,
      entity: "us…22",
      pseudonym: expect.stringMatching(/^[0-9a-f]{8}$/),
      tokenIndex: 0,
      urlIndex: 0,
      issues: [],
      target: expect.stringMatching(/^POST \//),
      isTest: false,
      explanation: undefined,
      canExplain: false,
    });
    // A clock that was corrected meanwhile differs by some milliseconds.
    expect(Math.abs(row.atMs - startMs)).toBeLessThan(10_000);
  });

  it("reveals the identity when it may, with no pseudonym", async () => {
    const observed = await observe(eventRequest("challenge.approved"));
    const { entity, pseudonym } = toRequestRow(observed, { ...CONTEXT, reveals: true });
    expect([entity, pseudonym]).toEqual(["user-7f3a-22", undefined]);
  });

  it.each([
    [false, "handled"],
    [true, "stored"],
  ])("names the result, with a queue %s: %s", async (hasQueue, result) => {
    const observed = await observe(eventRequest("factor.created"));
    expect(toRequestRow(observed, { ...CONTEXT, hasQueue })).toMatchObject({ result });
  });

  it("shows a rejected request by its method and path, and nothing that is not verified", async () => {
    const request = eventRequest("challenge.approved", {}, { authToken: "another" });
    expect(toRequestRow(await observe(request), CONTEXT)).toMatchObject({
      result: "rejected",
      status: 403,
      code: "SIGNATURE_MISMATCH",
      target: `POST ${request.path}`,
      type: undefined,
      uuid: undefined,
      accountSid: undefined,
      entity: undefined,
      tokenIndex: undefined,
    });
  });

  it("shows a failed event with its error", async () => {
    const row = toRequestRow(await observe(eventRequest("challenge.denied")), CONTEXT);
    expect(row).toMatchObject({
      result: "failed",
      status: 500,
      code: "HANDLER_FAILED",
      message: expect.any(String),
      failure: "no such user <entity_identity>",
      type: "challenge.denied",
    });
  });

  it("lists the parameters that could not be read", async () => {
    const request = eventRequest("challenge.approved", { challenge_details: "{" });
    expect(toRequestRow(await observe(request), CONTEXT).issues).toEqual([
      expect.stringMatching(/^challenge_details: /),
    ]);
  });

  it("marks an event that a console sent", async () => {
    const request = eventRequest("challenge.approved", { uuid: "console-test-1" });
    expect(toRequestRow(await observe(request), CONTEXT).isTest).toBe(true);
  });
});
