import { Callbacks } from "../../kit/callbacks";
import { keepNewest } from "../../kit/keep-newest";
import { copyText } from "../../kit/copied-text";
import { describeReasons } from "../../kit/thrown-value";
import type { QueuedEvent } from "../delivery/event-queue";
import type { WebhookError } from "../errors/webhook-error";
import { createExplainBudget } from "../signature/explain-budget";
import type { ObservedRequest } from "./inspection";
import type { PushWebhooksSettings } from "./options";
import type { CounterName, Explanation, Journal } from "../journal/journal";
import { maskText } from "../journal/mask";
import { MemoryJournal } from "../delivery/memory-journal";
import {
  createRequestEntry,
  findArrival,
  findResult,
  readClaims,
  readNames,
} from "./request-entry";

const MAX_ACCOUNTS = 1_000;
const MAX_KINDS = 100;
/** How often a request of one kind is explained: an attacker must not use up the receiver's budget. */
const EXPLAIN_EVERY_MS = 60_000;
const MAX_EXPLANATIONS = 3;

/** The failures after which the app has not decided about an event. */
const UNDECIDED = new Set<string | undefined>([
  "STORE_UNAVAILABLE",
  "CONFIRM_UNAVAILABLE",
  "OVERLOADED",
]);

type Settings = Pick<PushWebhooksSettings, "name" | "queue" | "authToken" | "allowedAccountSids">;

/** Writes the observed requests of a receiver into a journal, after their responses. */
export class RequestWriter {
  readonly #journal: Journal;
  readonly #settings: Settings;
  /** Whether a request may have another than the first token. */
  readonly #countsTokens: boolean;
  #pending: ObservedRequest[] = [];
  readonly #callbacks = new Callbacks(() => this.#journal.count("dropped"));
  /** Accounts of accepted requests: what a rejected one claims may be invented. */
  readonly #accounts = new Map<string, true>();
  readonly #budget = createExplainBudget({ maxReports: MAX_EXPLANATIONS });
  /** When a request of each kind was explained. */
  readonly #explainedAtMs = new Map<string, number>();

  constructor(journal: Journal, settings: Settings) {
    this.#journal = journal;
    this.#settings = settings;
    const { authToken } = settings;
    this.#countsTokens = typeof authToken === "function" || [authToken].flat().length > 1;
  }

  /** Takes a request whose response is decided; its entry is made after the response is sent. */
  readonly write = (observed: ObservedRequest): void => {
    if (this.#pending.push(observed) === 1) {
      this.#callbacks.setImmediate(() => this.#writePending());
    }
  };

  #writePending(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const observed of pending) {
      this.#callbacks.run(() => {
        if (observed.failedLater) this.#noteFailure(observed);
        else this.#writeRequest(observed);
      });
    }
  }

  #writeRequest(observed: ObservedRequest): void {
    const { queued, error } = observed;
    const claims = queued === undefined ? readClaims(observed) : {};
    const { accountSid = "" } = queued ?? claims;
    const { name: receiver, queue } = this.#settings;
    const result = findResult(observed, queue !== undefined);
    const counted: CounterName[] = [`result:${result}`];
    if (error !== undefined) counted.push(`code:${error.code}`);
    if (queued !== undefined && this.#countsTokens) {
      counted.push(`token:${copyText(accountSid)}:${queued.authTokenIndex}`);
    }
    const kind = error === undefined ? "accepted" : "rejected";
    const share = this.#findShare(queued, accountSid, error);
    const isDropped = this.#journal.isFull?.(kind, share) === true;
    if (isDropped) counted.push("dropped");
    this.#journal.count(...counted);
    if (isDropped) return;
    if (kind === "accepted" && !this.#accounts.has(accountSid)) {
      keepNewest(this.#accounts, copyText(accountSid), true, MAX_ACCOUNTS);
    }
    const id = crypto.randomUUID().slice(0, 13);
    const names = queued === undefined ? claims : readNames(queued.event);
    const explanation = error && this.#explain(observed, error);
    this.#journal.append(
      createRequestEntry(observed, { id, kind, share, receiver, result, names, explanation }),
    );
    // A worker runs the events of a queue, and no other process.
    if (queue !== undefined || queued === undefined || !isAccepted(observed)) return;
    if (this.#journal instanceof MemoryJournal) this.#journal.keep(id, queued);
  }

  #noteFailure(observed: ObservedRequest): void {
    const { queued, error, durationMs } = observed;
    if (queued === undefined || error === undefined) return;
    const { uuid = "", accountSid = "", identity } = readNames(queued.event);
    this.#journal.append({
      kind: "step",
      what: "failed",
      atMs: Math.round(findArrival(observed) + durationMs),
      uuid,
      accountSid,
      identity,
      share: queued.authenticatedAccount,
      attempt: 1,
      durationMs,
      error: maskText(describeReasons(error.cause) ?? error.code, queued.event),
    });
    this.#journal.count("attempt:failed", `code:${error.code}`);
  }

  /** A rejected request counts for what is known of it, not for what its sender claims. */
  #findShare(
    queued: QueuedEvent | undefined,
    accountSid: string,
    error: WebhookError | undefined,
  ): string {
    if (error === undefined && queued !== undefined) return queued.authenticatedAccount;
    const isKnown =
      queued !== undefined ||
      this.#accounts.has(accountSid) ||
      this.#settings.allowedAccountSids?.has(accountSid) === true;
    return `${error?.code} ${isKnown ? accountSid : ""}`;
  }

  /** Explains a wrong signature: few a minute, and one of a sender and a path. */
  #explain(observed: ObservedRequest, error: WebhookError): Explanation | undefined {
    if (error.code !== "SIGNATURE_MISMATCH" && error.code !== "SIGNATURE_MALFORMED")
      return undefined;
    const kind = `${observed.readTarget().path} ${observed.readSender().userAgent?.slice(0, 200)}`;
    const nowMs = performance.now();
    if (nowMs - (this.#explainedAtMs.get(kind) ?? -Infinity) < EXPLAIN_EVERY_MS) return undefined;
    const [cause, ...others] = this.#budget.spend(() => error.explain())?.causes ?? [];
    // Without a token there is nothing to compare with: the message says so.
    if (cause === undefined) return undefined;
    keepNewest(this.#explainedAtMs, kind, nowMs, MAX_KINDS);
    const { code, isProven, explanation, fix, subject } = cause;
    return {
      code,
      isProven,
      cause: isProven ? explanation : `Probably: ${explanation}`,
      fix,
      subject,
      others: others.slice(0, 3).map((other) => other.explanation),
    };
  }
}

/**
 * Whether the handlers of a delivery may run again: it was accepted, or only a store failed. A dedupe
 * store may call other content a duplicate, which was dropped.
 */
function isAccepted({ result, error }: ObservedRequest): boolean {
  return result === undefined ? UNDECIDED.has(error?.code) : result === "new";
}
