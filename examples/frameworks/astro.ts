import { pushWebhooks, type PushWebhooks } from "express-push-verification";

export const prerender = false;

const shared = globalThis as { push?: PushWebhooks };

export function ALL({ request }: { request: Request }): Promise<Response> {
  shared.push ??= pushWebhooks({
    authToken: process.env.PUSH_AUTH_TOKEN,
    publicUrl: process.env.PUSH_PUBLIC_URL,
  }).on("challenge.approved", (event) => console.log(event.challenge_sid));
  return shared.push.fetch(request);
}
