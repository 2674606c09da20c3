// config/http.js
import type { IncomingMessage, ServerResponse } from "node:http";
import { pushWebhooks } from "express-push-verification";

const receiver = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
receiver.on("challenge.approved", (event) => console.log(event.challenge_sid));

export const http = {
  middleware: {
    push(req: IncomingMessage, res: ServerResponse, next: () => void): void {
      if (req.url?.split("?")[0] === "/webhooks/push") receiver(req, res);
      else next();
    },
    order: ["push", "cookieParser", "session", "bodyParser", "compress", "router", "www"],
  },
};
