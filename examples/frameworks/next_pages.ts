import type { IncomingMessage, ServerResponse } from "node:http";
import { pushWebhooks, type PushWebhooks } from "express-push-verification";

export const config = { api: { bodyParser: false } };

const shared = globalThis as { push?: PushWebhooks };

export default function receive(req: IncomingMessage, res: ServerResponse): unknown {
  shared.push ??= pushWebhooks({
    authToken: process.env.PUSH_AUTH_TOKEN,
    publicUrl: process.env.PUSH_PUBLIC_URL,
  }).on("challenge.approved", (event) => console.log(event.challenge_sid));
  return shared.push(req, res);
}
