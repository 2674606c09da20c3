import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
push.on("challenge.approved", (event) => console.log(event.challenge_sid));

const app = new Hono();
app.all("/webhooks/push", (context) => push.fetch(context.req.raw));

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) });
process.once("SIGTERM", () => {
  server.close();
  void push.close();
});
