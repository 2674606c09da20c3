import express from "express";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL, // the webhook_url, exactly as configured
});

push.on("challenge.approved", (event) => {
  console.log(`${event.entity_identity} approved ${event.challenge_sid}`);
});
push.on(["factor.created", "factor.verified", "factor.deleted"], (event) => {
  console.log(`${event.type}: ${event.factor_sid} of ${event.entity_identity}`);
});
push.onRejected((error) => {
  console.warn(`${error.code}: ${error.message}`);
});

const app = express();
app.use("/webhooks/push", push);
const server = app.listen(process.env.PORT ?? 3000);

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"]) {
  process.once(signal, () => {
    server.close();
    void push.close();
  });
}
