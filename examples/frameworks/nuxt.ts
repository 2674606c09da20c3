// server/routes/webhooks/push.ts
import { fromNodeMiddleware } from "h3";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
push.on("challenge.approved", (event) => console.log(event.challenge_sid));

export default fromNodeMiddleware(push);
