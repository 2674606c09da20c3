import { pushWebhooks, type PushWebhooks } from "express-push-verification";

const shared = globalThis as { push?: PushWebhooks };

/** Returns the receiver of this process. */
export function usePush(): PushWebhooks {
  shared.push ??= pushWebhooks({
    authToken: process.env.PUSH_AUTH_TOKEN,
    publicUrl: process.env.PUSH_PUBLIC_URL,
  }).on("challenge.approved", (event) => console.log(event.challenge_sid));
  return shared.push;
}
