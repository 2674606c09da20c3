import { inspect } from "node:util";
import { WebhookError } from "../../../lib/core/errors/webhook-error";
import { never } from "../../support/waiting";
import { useChannels } from "../../support/channels";
import {
  createRequestRetry,
  type RequestRetryOptions,
} from "../../../lib/core/delivery/retry-request";

describe("createRequestRetry", () => {
  const published = useChannels("retrying");

  it("retries until an attempt succeeds", async () => {
    let attempts = 0;
    const retry = createRequestRetry();
    const value = retry(() => {
      if (++attempts === 1) throw new Error("synchronous");
      return attempts < 4 ? Promise.reject(new Error("asynchronous")) : "up";
    });
    await expect(value).resolves.toBe("up");
    expect(attempts).toBe(4);
    expect(published).toEqual([["retrying", {}]]);
  });

  it("starts no timer with a negative delay when the deadline has passed", async () => {
    const started = jest.spyOn(globalThis, "setTimeout");
    const late = createRequestRetry()(never, performance.now() - 1_000);
    await expect(late).rejects.toHaveProperty("code", "STORE_UNAVAILABLE");
    expect(started.mock.calls.map(([, delayMs]) => delayMs)).toEqual([expect.any(Number)]);
    expect(started.mock.calls[0]?.[1]).toBeGreaterThanOrEqual(0);
    started.mockRestore();
  });

  const token = { code: "TOKEN_UNAVAILABLE", what: "the resolver" } as const;
  it.each<[string, RequestRetryOptions, string]>([
    ["STORE_UNAVAILABLE", { retryForMs: 30 }, "A store"],
    ["OVERLOADED", { maxRetrying: 0 }, "0 webhook requests already wait for a store"],
    ["TOKEN_UNAVAILABLE", { retryForMs: 30, ...token }, "The"],
    ["OVERLOADED", { maxRetrying: 0, ...token }, "the resolver"],
  ])("rejects with %s and a cause without arguments for %j", async (code, options, text) => {
    const args = ["hush-identity", { metadata: "hush-metadata" }];
    const thrown = Object.assign(new Error("ERR no"), { code: "E", command: { args } });
    const error = await createRequestRetry(options)(() => Promise.reject(thrown)).catch(
      (e: unknown) => e,
    );
    expect(error).toMatchObject({ code, status: 503, cause: { message: "ERR no", code: "E" } });
    expect((error as Error).message).toContain(text);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("hush");
  });

  it("rejects at once with a WebhookError that an attempt threw", async () => {
    const error = new WebhookError("OVERLOADED", "too many");
    const attempt = jest.fn(() => Promise.reject(error));
    await expect(createRequestRetry()(attempt)).rejects.toBe(error);
    await expect(createRequestRetry({ maxRetrying: 0 })(attempt)).rejects.toBe(error);
    expect(attempt).toHaveBeenCalledTimes(2);
  });

  it("gives an operation over maxRetrying one attempt", async () => {
    const retry = createRequestRetry({ retryForMs: 50, maxRetrying: 2 });
    const held = [retry(never), retry(never)].map((one) => one.catch(() => "given up"));
    await expect(retry(() => 1)).resolves.toBe(1);
    const down = retry(() => Promise.reject(new Error("down")));
    await expect(down).rejects.toMatchObject({ code: "OVERLOADED", status: 503 });
    await Promise.all(held);
    await expect(retry(() => 1)).resolves.toBe(1);
  });

  it.each([
    [249, "late"],
    [251, "OVERLOADED"],
  ])("limits the only attempt at maxRetrying: %i ms: %s", async (delayMs, found) => {
    jest.useFakeTimers();
    const attempt = () => new Promise((resolve) => setTimeout(resolve, delayMs, "late"));
    const retry = createRequestRetry({ maxRetrying: 0 });
    const tried = retry(attempt).catch(({ code }: WebhookError) => code);
    await jest.advanceTimersByTimeAsync(delayMs);
    jest.useRealTimers();
    expect(await tried).toBe(found);
  });
});
