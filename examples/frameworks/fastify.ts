import Fastify from "fastify";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
push.on("challenge.approved", (event) => console.log(event.challenge_sid));

const app = Fastify();
app.route({
  method: ["GET", "POST"],
  url: "/webhooks/push",
  onRequest: (request, reply) => {
    reply.hijack();
    return push(request.raw, reply.raw);
  },
  handler: () => {}, // never runs
});
app.addHook("onClose", () => push.close());

app.listen({ port: Number(process.env.PORT ?? 3000) }).then(console.log, console.error);
process.once("SIGTERM", () => void app.close());
