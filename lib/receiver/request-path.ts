import type { IncomingMessage, ServerResponse } from "node:http";
import { createAuthenticate } from "./authenticate";
import { createReadParams } from "./body";
import { checkHeaders } from "./headers";
import type { Observation } from "./inspection";
import type { PushWebhooksSettings } from "./options";
import { createReadEvent } from "./read-event";
import { findReceivedBody, joinReceivedUrl, readHeaders, readTarget } from "./request-info";
import type { Deliver } from "../delivery/deliver";
import type { Delivery } from "../delivery/deliver-once";
import type { QueuedEvent } from "../delivery/event-queue";
import type { AccountScope } from "../event/account-scope";
import { publish } from "../observability/diagnostics";
import { createCoverGet, createCoverPost } from "../signature/signed-parts";

/**
 * Creates the request path of a receiver, from the headers of a webhook request to the delivery of
 * its event. Each step returns the input of the next one, or throws an error, which may have no code.
 *
 * @param deliver the last step.
 */
export function createReceive(
  settings: PushWebhooksSettings,
  scope: AccountScope,
  deliver: Deliver,
) {
  const { publicUrls, urlMatching } = settings;
  const readParams = createReadParams(settings.limitBytes, settings.bodyTimeoutMs);
  const coverPost = createCoverPost(publicUrls, urlMatching);
  const coverGet = createCoverGet(publicUrls, urlMatching);
  const authenticate = createAuthenticate(settings);
  const readEvent = createReadEvent(settings);

  return async function receive(
    req: IncomingMessage,
    res: ServerResponse,
    /** When to give up, as `performance.now()` counts. */
    deadlineAtMs: number,
    observed: Observation | undefined,
  ): Promise<{ event: QueuedEvent["event"]; delivery: Delivery }> {
    const headers = readHeaders(req);
    publish("received", { method: headers.method ?? "" });
    const checked = checkHeaders(headers, settings);
    const signedParts =
      checked.method === "GET"
        ? coverGet(readTarget(req))
        : coverPost(await readParams(req, res, checked));
    const readEvidence = () => ({
      url: joinReceivedUrl(headers, readTarget(req)),
      body: findReceivedBody(req),
    });
    const authenticated = await authenticate(checked, signedParts, readEvidence, deadlineAtMs);
    const { event, authTokenIndex, publicUrlIndex } = readEvent(authenticated);
    const queued: QueuedEvent = {
      event,
      account: scope.accountOf(event),
      accountSid: event.account_sid,
      uuid: event.uuid,
      // A signature is a hash of the content, except that it depends on the token.
      contentHash: checked.signature,
      listOtherHashes: authenticated.listOtherSignatures,
      authTokenIndex,
      publicUrlIndex,
      receiver: settings.name,
    };
    if (observed !== undefined) observed.queued = queued;
    const delivery = await deliver(queued, deadlineAtMs);
    if (observed !== undefined) observed.result = delivery.result;
    return { event, delivery };
  };
}
