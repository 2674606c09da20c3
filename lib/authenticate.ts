import type { IncomingMessage, ServerResponse } from "node:http";
import type { AccountScope } from "./account-scope";
import { createReadBody } from "./body";
import { publish } from "./diagnostics";
import { checkHead } from "./head";
import type { ReceiverSettings } from "./options";
import type { QueuedEvent } from "./queue";
import { findReceivedBody, readHead, readReceivedUrl, readTarget } from "./request";
import { createCoverGet, createCoverPost } from "./signed-parts";
import { createVerifyRequest } from "./verify";

/** Authenticates a request and returns its event with what its delivery needs. */
export type Authenticate = (
  req: IncomingMessage,
  res: ServerResponse,
  /** When to give up, as `performance.now()` counts. */
  deadlineAtMs: number,
) => Promise<QueuedEvent>;

/**
 * Creates the steps from a request to its event: headers, body, signature and account, parameters.
 *
 * @throws WebhookError (by what it returns) for every reason to reject a request.
 */
export function createAuthenticate(settings: ReceiverSettings, scope: AccountScope): Authenticate {
  const { name, publicUrls, urlMatching, limitBytes, bodyTimeoutMs } = settings;
  const readBody = createReadBody(limitBytes, bodyTimeoutMs);
  const coverPost = createCoverPost(publicUrls, urlMatching);
  const coverGet = createCoverGet(publicUrls, urlMatching);
  const verifyRequest = createVerifyRequest(settings);

  return async function authenticate(req, res, deadlineAtMs) {
    const head = readHead(req);
    publish("received", { method: head.method ?? "" });
    const checked = checkHead(head, settings);
    const alternatives =
      checked.method === "GET"
        ? coverGet(readTarget(req))
        : coverPost(await readBody(req, res, checked.hasBody));
    const received = {
      readUrl: () => readReceivedUrl(req),
      readBody: () => findReceivedBody(req),
    };
    const verified = await verifyRequest(checked, alternatives, received, deadlineAtMs);
    const { event, authTokenIndex, publicUrlIndex } = verified;
    return {
      event,
      account: scope.accountOf(event),
      accountSid: event.account_sid,
      uuid: event.uuid,
      // A signature is a hash of the content, except that it depends on the token.
      contentHash: checked.signature,
      authTokenIndex,
      publicUrlIndex,
      receiver: name,
    };
  };
}
