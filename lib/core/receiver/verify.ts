import { createAuthenticate, type AuthenticatedRequest } from "./authenticate";
import { createCheckEvent } from "./check-event";
import { checkHeaders } from "./method-and-headers";
import type { IncomingRequest } from "./incoming-request";
import type { VerifySettings } from "./verify-options";
import { andThen } from "../../kit/pending";
import type { createExplainBudget } from "../signature/explain-budget";

/** An authenticated event, and what its request says about it. */
export type VerifiedEvent = ReturnType<ReturnType<typeof createCheckEvent>>;

/**
 * Creates the function from a webhook request to its authenticated event. It returns a promise only if
 * it has to wait for the body or for a token. Its errors may have no code; see `addCode`.
 *
 * @param explainBudget bounds the work of {@link WebhookError.explain}. @default a new budget
 */
export function createVerify(
  settings: VerifySettings,
  explainBudget?: ReturnType<typeof createExplainBudget>,
) {
  const authenticate = createAuthenticate(settings, explainBudget);
  let checkEvent: ReturnType<typeof createCheckEvent> | undefined;
  // No request that is not authentic has verifyPushRequest compile its patterns.
  const check = (authenticated: AuthenticatedRequest) => {
    checkEvent ??= createCheckEvent(settings);
    return checkEvent(authenticated);
  };

  /** @param deadlineAtMs when to give up a token lookup, as `performance.now()` counts. */
  return function verify(
    request: IncomingRequest,
    deadlineAtMs?: number,
  ): VerifiedEvent | Promise<VerifiedEvent> {
    const headers = checkHeaders(request, settings);
    return andThen(request.readBody(headers.hasBody), (body) => {
      request.body = body;
      return andThen(authenticate(request, headers, deadlineAtMs), check);
    });
  };
}
