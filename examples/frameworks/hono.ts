import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
push.on("challenge.approved", (event) => console.log(event.challenge_sid));

const app = new Hono();
app.all("/webhooks/push", (context) => push.fetch(context.req.raw));

const server = createAdaptorServer({ fetch: app.fetch });
server.listen(process.env.PORT ?? 3000);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"]) {
  process.once(signal, () => {
    server.close();
    void push.close();
  });
}
