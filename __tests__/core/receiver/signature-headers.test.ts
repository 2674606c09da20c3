import { createHmac } from "node:crypto";
import { signedRequest } from "express-push-verification/testing";
import { callApi, startEmulator, startReceiver, stopEmulators } from "../../support/emulators";
import type { Emulator } from "express-push-verification/emulator";
import { createReceiver } from "../../support/receivers";
import { startCommand } from "../../support/terminals";
import { AUTH_TOKEN, eventRequest } from "../../support/webhook-requests";

afterEach(stopEmulators);

const SERVICE = "X-Service-Signature";
const PUBLIC = "X-Twilio-Signature";
const OWN = "X-Own-Signature";

const good = eventRequest("challenge.approved");
const { "x-service-signature": signature = "", ...others } = good.headers;

const [MISSING, MALFORMED] = ["SIGNATURE_MISSING", "SIGNATURE_MALFORMED"];
it.each([
  [undefined, [SERVICE], undefined],
  [undefined, [PUBLIC.toUpperCase()], undefined],
  [undefined, [OWN], MISSING],
  [undefined, [], MISSING],
  [undefined, [SERVICE, PUBLIC], MALFORMED],
  [PUBLIC, [SERVICE, PUBLIC], undefined],
  [SERVICE, [PUBLIC], MISSING],
  [[OWN, PUBLIC], [PUBLIC], undefined],
  [[OWN, PUBLIC], [SERVICE], MISSING],
  [[PUBLIC, PUBLIC.toLowerCase()], [PUBLIC], undefined],
])("signatureHeader %j with the headers %j: %s", async (signatureHeader, sent, result) => {
  const { receive, rejected } = createReceiver({ signatureHeader });
  const headers = { ...others, ...Object.fromEntries(sent.map((name) => [name, signature])) };
  expect(await receive({ ...good, headers })).toBe(result === undefined ? 200 : 403);
  expect(rejected).toEqual(result === undefined ? [] : [result]);
});

it.each([
  [undefined, MISSING],
  ["X-Authy-Signature", MALFORMED],
])("rejects a signature of Authy with the signatureHeader %j: %s", async (option, code) => {
  const { receive, rejected } = createReceiver({ signatureHeader: option });
  const authy = createHmac("sha256", AUTH_TOKEN).update("nonce|POST|url|params").digest("base64");
  expect(await receive({ ...good, headers: { ...others, "x-authy-signature": authy } })).toBe(403);
  expect(rejected).toEqual([code]);
});

/** What the app expects, and what the tool signs with. */
const DIRECTIONS = [
  [PUBLIC, SERVICE],
  [SERVICE, PUBLIC],
  [OWN, SERVICE],
] as const;

describe.each(DIRECTIONS)("an app that expects %s, of a sender that signs with %s", (...names) => {
  const [expected, used] = names;
  // A tool knows the names of SIGNATURE_HEADERS only.
  const toolSays =
    expected === OWN ? `--signature-header (${used})` : `--signature-header ${expected}`;
  const start = async () => {
    const { push, ...receiver } = await startReceiver(AUTH_TOKEN, { signatureHeader: expected });
    const messages: string[] = [];
    push.onRejected(({ message }) => void messages.push(message));
    return { ...receiver, messages };
  };
  const expectAdvice = ([message = ""]: string[]) => {
    expect(message).toContain(
      `this app expects the header ${expected.toLowerCase()}, and the sender`,
    );
    expect(message).toContain(`signs with ${used.toLowerCase()}. Pass the name`);
    expect(message).not.toContain("set signatureHeader");
  };

  it("the emulator of the command line is told by both sides, once", async () => {
    const { publicUrl, messages } = await start();
    const args = ["emulator", "--port", "0", "--webhook-url", publicUrl, "--json"];
    const { run, written, interrupt, waitFor } = startCommand(args, {
      PUSH_AUTH_TOKEN: AUTH_TOKEN,
      PUSH_SIGNATURE_HEADER: used,
    });
    await waitFor(/\n/);
    const settings = JSON.parse(written.stdout) as Record<string, string>;
    const { PUSH_ACCOUNT_URL: url, PUSH_ACCOUNT_SID: sid = "" } = settings;
    const create = () =>
      callApi({ url } as Emulator, "POST", "/_control/factors", { as: [sid, AUTH_TOKEN] });
    await create();
    await waitFor(/--signature-header .*\n/, "stderr");
    await create();
    await waitFor(/\n.*\n.*\n/);
    interrupt();
    await run;
    expect(written.stderr.split("--signature-header")).toHaveLength(2);
    expect(written.stderr).toContain(toolSays);
    expectAdvice(messages);
  });

  it("createEmulator and signedRequest are told by the app", async () => {
    const { publicUrl, messages } = await start();
    const webhooks = [{ webhook_url: publicUrl }];
    const options = { authToken: AUTH_TOKEN, signatureHeader: used };
    const emulator = await startEmulator({ ...options, webhooks });
    emulator.createFactor();
    await emulator.settled();
    expect(emulator.deliveries).toMatchObject([{ response: { status: 403 } }]);
    const { url, ...made } = signedRequest({ ...options, publicUrl }, "factor.created");
    expect(await fetch(url, made as RequestInit)).toHaveProperty("status", 403);
    expect(messages).toHaveLength(2);
    for (const message of messages) expectAdvice([message]);
  });
});
