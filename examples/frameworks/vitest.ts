import { createServer } from "node:http";
import { pushWebhooks } from "express-push-verification";
import { signedRequest } from "express-push-verification/testing";
import { expect, test, vi } from "vitest";

test("reminds the user after an hour", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const settings = { authToken: "token", publicUrl: "http://127.0.0.1/push" };
  const remind = vi.fn();
  const push = pushWebhooks(settings);
  push.on("factor.created", () => void setTimeout(remind, 3_600_000));
  const server = createServer((req, res) => void push(req, res)).listen(0);
  const { port } = server.address() as { port: number };
  const { path, headers, body = "" } = signedRequest(settings, "factor.created");
  const url = `http://127.0.0.1:${port}${path}`;
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
  vi.advanceTimersByTime(3_600_000);
  expect(remind).toHaveBeenCalledTimes(1);
  vi.useRealTimers();
  server.close();
  await push.close();
});
