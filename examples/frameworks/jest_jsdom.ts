/** @jest-environment jsdom */
import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import { expect, test } from "@jest/globals";
import { pushWebhooks } from "express-push-verification";
import { signedRequest } from "express-push-verification/testing";

test.each(["unread", "kept"])("accepts a body that is %s", async (kind) => {
  const settings = { authToken: "token", publicUrl: "http://127.0.0.1/push" };
  const push = pushWebhooks(settings);
  const approved: string[] = [];
  push.on("challenge.approved", (event) => void approved.push(event.challenge_sid));
  const server = createServer((req, res) => {
    if (kind === "unread") return push(req, res);
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => void chunks.push(chunk));
    req.on("end", () => push(Object.assign(req, { rawBody: Buffer.concat(chunks) }), res));
  }).listen(0);
  const { port } = server.address() as { port: number };
  const { method, path, headers, body } = signedRequest(settings, "challenge.approved");
  const sent = request({ port, method, path, headers }).end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  expect(response.resume().statusCode).toBe(200);
  expect(approved).toHaveLength(1);
  server.close();
  await push.close();
});
