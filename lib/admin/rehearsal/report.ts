import { describeError } from "../../kit/thrown-value";
import type { ApiError } from "../client/api-error";

/**
 * A link of the chain of a login:
 *
 * - `credentials`, `service`: the API accepts the client, and has its service
 * - `webhook`, `enabled`, `types`, `version`, `drift`: the Webhook of the publicUrl exists, is
 *   enabled, sends the handled types in v2, and nothing else disturbs it
 * - `factor`, `challenge`: the phone registers, is verified, and approves a challenge
 * - `delivery`, `signature`: the webhook request arrives, and is authenticated
 * - `stored`, `confirm`, `handled`: its uuid is claimed, or the event is in the queue; `confirm` says
 *   that it is true; its handlers succeed
 * - `waited`: `waitForChallenge` resolves
 * - `removed`: the entity of the rehearsal is deleted
 */
export type RehearsalLink =
  | "credentials"
  | "service"
  | "webhook"
  | "enabled"
  | "types"
  | "version"
  | "drift"
  | "factor"
  | "challenge"
  | "delivery"
  | "signature"
  | "stored"
  | "confirm"
  | "handled"
  | "waited"
  | "removed";

/** The links of the chain of a login, in their order. */
export const REHEARSAL_LINKS = [
  "credentials",
  "service",
  "webhook",
  "enabled",
  "types",
  "version",
  "drift",
  "factor",
  "challenge",
  "delivery",
  "signature",
  "stored",
  "confirm",
  "handled",
  "waited",
  "removed",
] as const satisfies readonly RehearsalLink[];

/** What has become of a link. */
export interface RehearsalRow {
  readonly link: RehearsalLink;
  /** `"skipped"`: it was not reached, or the app does not have it. */
  readonly result: "ok" | "failed" | "skipped";
  /** How long it took, or since the approval, in milliseconds; undefined if skipped. */
  readonly durationMs?: number | undefined;
  /** Why it failed or was skipped, or where it succeeded. */
  readonly reason?: string | undefined;
  readonly fix?: string | undefined;
}

/** The result of `rehearse`. */
export interface RehearsalReport {
  /** Whether no link failed. */
  readonly isOk: boolean;
  /** The `entity_identity` of the user, for the logs: `rehearsal-` and a UUID. */
  readonly identity: string;
  /** One for each {@link RehearsalLink}, in their order. */
  readonly rows: readonly RehearsalRow[];
}

/** Why a link failed, and what to do. */
export interface Problem {
  reason: string;
  fix?: string | undefined;
}

/** The rows of a rehearsal that runs; the first result of a link counts. */
export class RehearsalRows {
  readonly #rows = new Map<RehearsalLink, RehearsalRow>();
  /** Since when durations count, as `performance.now()` does. */
  startMs = performance.now();

  ok(link: RehearsalLink, atMs = performance.now(), reason?: string): void {
    this.#add({ link, result: "ok", durationMs: atMs - this.startMs, reason });
  }

  fail(link: RehearsalLink, { reason, fix }: Problem, atMs = performance.now()): void {
    this.#add({ link, result: "failed", durationMs: atMs - this.startMs, reason, fix });
  }

  skip(link: RehearsalLink, reason: string): void {
    this.#add({ link, result: "skipped", reason });
  }

  /** Runs the requests of a link from now on; adds its row and returns undefined when they fail. */
  async attempt<Value>(
    link: RehearsalLink,
    send: () => Promise<Value>,
  ): Promise<Value | undefined> {
    this.startMs = performance.now();
    try {
      return await send();
    } catch (error) {
      this.fail(link, describeApiError(error));
      return undefined;
    }
  }

  get hasFailed(): boolean {
    return [...this.#rows.values()].some(({ result }) => result === "failed");
  }

  toReport(identity: string): RehearsalReport {
    const rows = REHEARSAL_LINKS.map((link): RehearsalRow => {
      return this.#rows.get(link) ?? { link, result: "skipped", reason: "It was not reached." };
    });
    return { isOk: !this.hasFailed, identity, rows };
  }

  #add({ durationMs, ...row }: RehearsalRow): void {
    if (this.#rows.has(row.link)) return;
    const rounded = durationMs === undefined ? undefined : Math.round(durationMs);
    this.#rows.set(row.link, { ...row, durationMs: rounded });
  }
}

/** Describes a failed request to the service. Rethrows what is no Error. */
export function describeApiError(error: unknown): Problem {
  if (!(error instanceof Error)) throw error;
  const { serviceCode } = error as Partial<ApiError>;
  const number = serviceCode === undefined ? "" : ` (error ${serviceCode})`;
  return { reason: `${describeError(error)}${number}` };
}
