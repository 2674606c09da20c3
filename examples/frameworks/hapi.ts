import { server } from "@hapi/hapi";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
push.on("challenge.approved", (event) => console.log(event.challenge_sid));

const app = server({ port: Number(process.env.PORT ?? 3000) });
app.route({
  method: "*",
  path: "/webhooks/push",
  options: { payload: { parse: false, output: "stream" } },
  async handler({ raw }, h) {
    await push(raw.req, raw.res);
    return h.abandon;
  },
});

void app.start();
process.once("SIGTERM", () => {
  void app.stop();
  void push.close();
});
