import { setTimeout as sleep } from "node:timers/promises";
import { inspectReceiver, type PushWebhooks, type ReceiverInspection } from "../../core/door";
import { validateOptions, wholeNumber, type OptionRules } from "../../kit/validate-options";
import * as z from "zod";
import { ApiError } from "../client/api-error";
import type { AdminClient } from "../client/client";
import { findAccess, type ServiceAccess } from "../client/service-access";
import { Arrival } from "./arrival";
import { judgeArrival, type Waited } from "./judge-arrival";
import { checkWebhook } from "./check-webhook";
import { describeApiError } from "./describe-api-error";
import { RehearsalRows, type RehearsalLink, type RehearsalReport } from "./report";
import { VirtualPhone } from "./virtual-phone";

/** Options of `rehearse`. */
export interface RehearseOptions {
  /** The receiver of the app, in a process that serves its publicUrl, or that shares its queue. */
  push: PushWebhooks;
  /** Client of the service, from `createAdminClient`. It may use a Standard key. */
  client: AdminClient;
  /** How long to wait for the login once the phone has approved it, in milliseconds. @default 25_000 */
  timeoutMs?: number | undefined;
}

/** The identity of the user of a rehearsal begins so: a handler may leave such events out. */
export const REHEARSAL_PREFIX = "rehearsal-";

const POLL_MS = 200;
const DEFAULT_TIMEOUT_MS = 25_000;

const RULES: OptionRules<RehearseOptions> = {
  push: {
    accepts: (value) => typeof value === "function" && inspectReceiver(value) !== undefined,
    expected: "the result of pushWebhooks() of this installed copy of express-push-verification",
    required: true,
    secret: true,
  },
  client: {
    accepts: (value) =>
      typeof value === "object" && value !== null && findAccess(value) !== undefined,
    expected: "the result of createAdminClient()",
    required: true,
    secret: true,
  },
  timeoutMs: wholeNumber(1, 600_000, "milliseconds"),
};

/**
 * Rehearses a login at the service itself: a virtual phone registers for a temporary user, whose
 * identity begins with `rehearsal-`, gets a challenge and approves it, and `push.waitForChallenge`
 * must resolve, through DNS, TLS, proxy, signature, `confirm`, queue and worker. The handlers of the
 * app run for its events, and the user is deleted at the end, also after a failure.
 *
 * It costs one factor and one challenge at the service.
 *
 * @returns a row for each link of the chain; it rejects for no failure of a link.
 * @throws TypeError for an option that is unknown or not valid.
 */
export async function rehearse(options: RehearseOptions): Promise<RehearsalReport> {
  validateOptions("rehearse", options, RULES);
  const { push, client, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const inspection = inspectReceiver(push) as ReceiverInspection;
  const access = findAccess(client) as ServiceAccess;
  const identity = `${REHEARSAL_PREFIX}${crypto.randomUUID()}`;
  const rows = new RehearsalRows();
  const isReady =
    (await checkService(access, rows)) && (await checkWebhook(push, client.webhooks, rows));
  if (isReady) {
    const phone = new VirtualPhone(access, identity);
    try {
      await signIn(phone, { push, client, timeoutMs, identity, inspection, rows });
    } finally {
      await removeUser(phone, identity, rows);
    }
  }
  return rows.toReport(identity);
}

/** Asks for the service: that shows credentials, address and SID. */
async function checkService(access: ServiceAccess, rows: RehearsalRows): Promise<boolean> {
  const startMs = performance.now();
  const since = () => performance.now() - startMs;
  try {
    await access.send(
      { method: "GET", url: access.serviceUrl },
      z.looseObject({ sid: z.string() }),
    );
    rows.ok("credentials", since());
    rows.ok("service", since());
    return true;
  } catch (error) {
    const problem = describeApiError(error);
    const { status, serviceCode } = error as ApiError;
    if (status === 401 || status === 403) {
      const fix =
        "Set username and password of the client: the auth token of the account, or a Key and its secret.";
      rows.fail("credentials", since(), { ...problem, fix });
      return false;
    }
    // The service itself has answered, so it accepted them.
    if (serviceCode !== undefined) rows.ok("credentials", since());
    rows.fail("service", since(), {
      ...problem,
      fix: "Set verifyUrl and serviceSid of the client.",
    });
    return false;
  }
}

interface SignIn {
  push: PushWebhooks;
  client: AdminClient;
  timeoutMs: number;
  identity: string;
  inspection: ReceiverInspection;
  rows: RehearsalRows;
}

/** Registers the phone, approves a challenge, and waits for the login. */
async function signIn(phone: VirtualPhone, given: SignIn): Promise<void> {
  const { push, client, timeoutMs, identity, inspection, rows } = given;
  const factorSid = await run(rows, "factor", () => phone.register());
  if (factorSid === undefined) return;
  let arrival: Arrival | undefined;
  const stop = new AbortController();
  const waited: Waited = { outcome: undefined, error: undefined, atMs: 0 };
  let clockAheadMs = 0;
  try {
    const challenge = await run(rows, "challenge", async () => {
      const asked = await phone.ask(factorSid);
      clockAheadMs = Date.now() - (Date.parse(asked.date_created ?? "") || Date.now());
      arrival = new Arrival(inspection, asked.sid, {
        accountSid: client.accountSid,
        entityIdentity: identity,
      });
      const wait = inspection.waitForChallenge({
        challengeSid: asked.sid,
        entityIdentity: identity,
        accountSid: client.accountSid,
        timeoutMs: timeoutMs * 2,
        signal: stop.signal,
      });
      wait
        .then(
          // The service's own word does not prove that its webhook request arrives.
          (outcome) => (waited.outcome = outcome.source === "webhook" ? outcome : undefined),
          (error: unknown) => (waited.error = error),
        )
        .finally(() => (waited.atMs = performance.now()));
      await phone.approve(asked.sid);
      return asked;
    });
    if (challenge === undefined || arrival === undefined) return;
    const endAtMs = performance.now() + timeoutMs;
    while (performance.now() < endAtMs) {
      const sinceWaitMs =
        waited.outcome === undefined ? undefined : performance.now() - waited.atMs;
      await arrival.look(sinceWaitMs);
      if (arrival.isOver(sinceWaitMs)) break;
      await sleep(POLL_MS);
    }
    if (waited.outcome === undefined) await arrival.look(undefined, true);
    const { publicUrl } = push;
    await judgeArrival(arrival, waited, { publicUrl, inspection, rows, timeoutMs, clockAheadMs });
  } finally {
    stop.abort();
    arrival?.close();
  }
}

/** Runs the requests of a link, and adds its row; undefined when it failed. */
async function run<Value>(
  rows: RehearsalRows,
  link: RehearsalLink,
  send: () => Promise<Value>,
): Promise<Value | undefined> {
  const startMs = performance.now();
  try {
    const value = await send();
    rows.ok(link, performance.now() - startMs);
    return value;
  } catch (error) {
    rows.fail(link, performance.now() - startMs, describeApiError(error));
    return undefined;
  }
}

async function removeUser(
  phone: VirtualPhone,
  identity: string,
  rows: RehearsalRows,
): Promise<void> {
  const startMs = performance.now();
  try {
    if (await phone.remove()) rows.ok("removed", performance.now() - startMs);
  } catch (error) {
    const isGone = error instanceof ApiError && error.status === 404;
    if (isGone) return rows.ok("removed", performance.now() - startMs);
    const fix = `Delete the entity ${identity} at the service.`;
    rows.fail("removed", performance.now() - startMs, { ...describeApiError(error), fix });
  }
}
