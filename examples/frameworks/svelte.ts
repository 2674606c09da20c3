import { pushWebhooks, type PushWebhooks } from "express-push-verification";

const shared = globalThis as { push?: PushWebhooks };

export function POST({ request }: { request: Request }): Promise<Response> {
  // On first use: vite build loads this file without secrets.
  shared.push ??= pushWebhooks({
    authToken: process.env.PUSH_AUTH_TOKEN,
    publicUrl: process.env.PUSH_PUBLIC_URL,
  }).on("challenge.approved", (event) => console.log(event.challenge_sid));
  return shared.push.fetch(request);
}
