/**
 * The responses of the console's routes to its page; shared with the script of the page.
 *
 * | route | body | response |
 * | --- | --- | --- |
 * | `GET /console` | | {@link ConsoleSettings} |
 * | `POST /console/view` | `{ filter, position }`, of a {@link RequestFilter} | {@link ConsoleView} |
 * | `POST /console/search` | `{ text }` | {@link LoginSearch} |
 * | `GET /console/requests/:id` | | {@link RequestDetails}; 404 `NOT_FOUND` |
 * | `GET /console/queue` | | {@link QueueView} |
 * | `GET /console/findings` | | `{ findings }` |
 * | `POST /console/resend` | `{ ids }` or `{ filter, untilMs }` | lines: {@link ActionLine} |
 * | `POST /console/dead-letters/retry`, `…/discard` | {@link DeadLetterChoice} | lines: {@link ActionLine} |
 *
 * All times are whole milliseconds since 1970.
 */
import type { RequestDetails } from "./console";
import type { findLogin } from "./find-login";
import type { RequestRow } from "./request-row";
import type { show, ShownHistory } from "./shown-history";

export type { ActionLine } from "./action-lines";
export type { ConsoleSettings, RequestDetails } from "./console";
export type { DeadLetterChoice } from "./dead-letter-choice";
export type { DeadLetterGroup, DeadLetterRow, QueueView } from "./queue-view";
export type { RequestFilter } from "./request-filter";
export type { RequestRow } from "./request-row";
export type { ShownHistory } from "./shown-history";

export type ConsoleView = Awaited<ReturnType<typeof show>>;
export type LoginSearch = Awaited<ReturnType<typeof findLogin>>;

export type Explanation = NonNullable<RequestRow["explanation"]>;
export type FailedRequests = ShownHistory["failed"];
export type Rejections = ShownHistory["totals"]["rejections"][number];
export type TokenUse = ShownHistory["totals"]["rotation"][number];
export type ChangeRow = ShownHistory["changes"][number];
export type PendingWaitRow = LoginSearch["waits"][number];
export type FoundChallenge = LoginSearch["challenges"][number];
export type QueuedState = NonNullable<RequestDetails["queued"]>;
