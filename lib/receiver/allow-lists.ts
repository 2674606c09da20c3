import type { VerifySettings } from "./verify-options";
import { WebhookError } from "../errors/webhook-error";
import type { PushEvent, UnknownPushEvent } from "../event/event";

/** The options that list the accounts and the services whose events are accepted. */
export type AllowLists = Pick<VerifySettings, "allowedAccountSids" | "allowedServiceSids">;

/**
 * Rejects an event whose account or service is not allowed.
 *
 * @param tokenServiceSids the services that the function `authToken` allows; undefined for all.
 * @throws WebhookError `ACCOUNT_NOT_ALLOWED`, for a service too.
 */
export function assertAllowed(
  { allowedAccountSids, allowedServiceSids }: AllowLists,
  tokenServiceSids: readonly string[] | undefined,
  { account_sid, service_sid = "" }: PushEvent | UnknownPushEvent,
): void {
  if (allowedAccountSids?.has(account_sid) === false) {
    throw notAllowed("The account is not in allowedAccountSids.");
  }
  if (allowedServiceSids?.has(service_sid) === false) {
    throw notAllowed("The service is not in allowedServiceSids.");
  }
  if (tokenServiceSids?.includes(service_sid) === false) {
    throw notAllowed("The service is not in the serviceSids that authToken returned.");
  }
}

function notAllowed(message: string): WebhookError {
  return new WebhookError("ACCOUNT_NOT_ALLOWED", message);
}
