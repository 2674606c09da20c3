import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { pushWebhooks } from "express-push-verification";
import { signedRequest } from "express-push-verification/testing";

const settings = { authToken: "token", publicUrl: "https://app.example.com/push" };
const approved: string[] = [];
const push = pushWebhooks(settings);
push.on("challenge.approved", (event) => void approved.push(event.entity_identity));
const server = createServer(push).listen(0);

after(async () => {
  server.close();
  await push.close();
});

void test("handles an approval", async () => {
  if (!server.listening) await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const overrides = { entity_identity: "user-5e81-07" };
  const { path, headers, body = "" } = signedRequest(settings, "challenge.approved", overrides);
  const url = `http://127.0.0.1:${port}${path}`;
  assert.equal((await fetch(url, { method: "POST", headers, body })).status, 200);
  assert.deepEqual(approved, ["user-5e81-07"]);
});
