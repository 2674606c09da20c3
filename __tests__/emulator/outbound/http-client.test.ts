import type { SendRequestOptions } from "../../../lib/emulator/outbound/http-client";
import { getEventListeners } from "node:events";
import { SendError, sendRequest } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
import { startTarget, stopEmulators } from "../../support/emulators";
import { startSilentTls } from "../../support/servers";
import { nextTurn } from "../../support/waiting";

afterEach(stopEmulators);

const send = (url: string, options?: SendRequestOptions) =>
  sendRequest({ method: "POST", url, headers: {}, body: "a=ö" }, options);

const failure = (code: string, isConnectionFailure: boolean) =>
  expect.objectContaining({ name: "SendError", code, isConnectionFailure });

describe("sendRequest", () => {
  it.each<[userInfo: string, target: string, sent: string, credentials?: string]>([
    ...["/it's/a/../b//c?q='x'&%2f=%2F+&[]|", "/", "/?", "/a?b=c?d", "/@"].map(
      (one): [string, string, string] => ["", one, one],
    ),
    ["", "?a=1", "/?a=1"],
    ["", "/Zoë", "/Zo%C3%AB"],
    ["bot:s%40crt@", "/a#b", "/a", "bot:s@crt"],
    ["u:%25zz%zz@", "", "/", "u:%25zz%zz"],
  ])("sends to %s%s the target %s, with the credentials %s", async (userInfo, target, ...sent) => {
    const seen = jest.fn();
    const url = await startTarget(({ url: path, headers }, res) =>
      res.end(seen(path, headers.authorization, headers["content-length"])),
    );
    await send(url.replace("//", `//${userInfo}`) + target);
    const [path, credentials] = sent;
    expect(seen.mock.calls).toEqual([[path, credentials && `Basic ${btoa(credentials)}`, "4"]]);
  });

  it("keeps the first 16,384 bytes of a response", async () => {
    const url = await startTarget((_req, res) => res.end("x".repeat(100_000)));
    expect((await send(url)).body).toHaveLength(16_384);
  });

  it("leaves no listener on a signal, after a response and after a failure", async () => {
    const { signal } = new AbortController();
    const url = await startTarget((_req, res) => res.end());
    await send(url, { signal });
    await stopEmulators();
    await expect(send(url, { signal })).rejects.toEqual(failure("ECONNREFUSED", true));
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it.each(["before", "during"])("rejects when its signal is aborted %s it", async (when) => {
    const aborted = new AbortController();
    if (when === "before") aborted.abort("why");
    const sent = jest.fn(() => aborted.abort("why"));
    const failed = send(await startTarget(sent), { signal: aborted.signal });
    await expect(failed).rejects.toEqual(failure("ABORTED", false));
    await expect(failed).rejects.toHaveProperty("cause", "why");
    expect(sent).toHaveBeenCalledTimes(when === "before" ? 0 : 1);
  });

  const settings = { authToken: "hush", publicUrl: "http://127.0.0.1:9/" };
  it.each<[request: object, options?: object, message?: RegExp]>([
    [{}, { timeoutMs: 0 }, /timeoutMs/],
    [{}, { connectTimeoutMs: 1.5 }, /connectTimeoutMs/],
    [{}, { signal: {} }, /signal/],
    [{}, { timeout: 5 }, /"timeout".*"timeoutMs"/],
    [{ url: "/relative" }],
    [{ url: "ftp://a.test/" }],
    [{ url: "http://" }],
    [{ method: "G T" }],
    [{ headers: { "X-A": "a\nb" } }],
  ])("rejects the request %j with the options %j with a TypeError", async (...row) => {
    const [wrong, options, message = /^/] = row;
    const sent = sendRequest({ ...signedRequest(settings, "factor.created"), ...wrong }, options);
    const thrown = { name: "TypeError", message: expect.stringMatching(message) as string };
    await expect(sent).rejects.toMatchObject(thrown);
  });

  it.each<[code: string, isConnectionFailure: boolean, answer: string | undefined]>([
    ["TIMEOUT", false, undefined],
    ["ECONNRESET", false, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx"],
    ["ECONNRESET", true, "HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"],
    ["ECONNRESET", true, ""],
  ])("rejects with %s, a connection failure: %s, after %j", async (code, isFailure, answer) => {
    const url = await startTarget((req) => {
      if (answer !== undefined) req.socket.end(answer);
    });
    const timeoutMs = answer === undefined ? 30 : 60_000;
    await expect(send(url, { timeoutMs })).rejects.toEqual(failure(code, isFailure));
  });

  it("rejects with the code and the cause of a failed connection", async () => {
    const url = await startTarget(() => {});
    await stopEmulators();
    const failed = await send(url).catch((error: unknown) => error);
    expect(failed).toEqual(failure("ECONNREFUSED", true));
    expect(failed).toHaveProperty("cause.code", "ECONNREFUSED");
    expect(failed).toBeInstanceOf(SendError);
    const localhost = url.replace("127.0.0.1", "localhost");
    const message = expect.stringContaining("connect ECONNREFUSED 127.0.0.1:");
    await expect(send(localhost)).rejects.toMatchObject({ code: "ECONNREFUSED", message });
  });

  it("waits 5 s for a connection and 15 s in all, unless it is told otherwise", async () => {
    const tls = await startSilentTls();
    const arrived = jest.fn();
    const url = await startTarget(arrived);
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate"] });
    const failures: unknown[] = [];
    const sent = [tls.url, url].map((one) => send(one).catch((error) => failures.push(error)));
    while (arrived.mock.calls.length === 0) await nextTurn();
    const expected = [failure("CONNECT_TIMEOUT", true), failure("TIMEOUT", false)];
    for (const [passMs, count] of [
      [4_999, 0],
      [1, 1],
      [9_999, 1],
      [1, 2],
    ] as const) {
      jest.advanceTimersByTime(passMs);
      await nextTurn();
      expect(failures).toEqual(expected.slice(0, count));
    }
    jest.useRealTimers();
    await Promise.all(sent);
    tls.close();
  });
});
