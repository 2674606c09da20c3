import { createServer } from "node:http";
import express from "express";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
const app = express();

const server = createServer((req, res) => {
  const [path] = (req.url ?? "").split("?", 1);
  if (path === "/webhooks/push") void push(req, res);
  else app(req, res);
});
server.listen(process.env.PORT ?? 3000);
