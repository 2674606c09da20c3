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

const { PORT = "3000" } = process.env; // IIS passes the path of a named pipe
const address = /^\d+$/.test(PORT) ? { port: Number(PORT) } : { path: PORT };
app.listen(address).then(console.log, console.error);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"]) {
  process.once(signal, () => void app.close());
}
