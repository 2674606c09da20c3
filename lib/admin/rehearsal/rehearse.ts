import { inspectReceiver, type ReceiverInspection } from "../../core/door";
import type { PushWebhooks } from "../../index";
import type { QueueUser } from "../../durable";
import {
  validateOptions,
  wholeNumber,
  type OptionRule,
  type OptionRules,
} from "../../kit/validate-options";
import * as z from "zod";
import { ApiError } from "../client/api-error";
import type { AdminClient } from "../client/client";
import { accesses, type ServiceAccess } from "../client/service-access";
import { Arrival } from "./arrival";
import { judgeArrival } from "./judge-arrival";
import { checkWebhook } from "./check-webhook";
import { describeApiError, RehearsalRows, type RehearsalReport } from "./report";
import { VirtualPhone } from "./virtual-phone";

/** What `rehearse` takes. */
export interface RehearseOptions {
  /** The receiver of the app, in a process that serves its publicUrl, or that shares its queue. */
  push: PushWebhooks;
  /** The result of `createAdminClient`. It may use a Standard key. */
  client: AdminClient;
  /** How long to wait for the login once the phone has approved it, in milliseconds. @default 25_000 */
  timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 25_000;

/** The rule of an option that is a receiver. */
export const RECEIVER_RULE: OptionRule = {
  accepts: (value) => typeof value === "function" && inspectReceiver(value) !== undefined,
  expected: "the result of pushWebhooks() of this installed copy of express-push-verification",
  secret: true,
};

const RULES: OptionRules<RehearseOptions> = {
  push: { ...RECEIVER_RULE, required: true },
  client: {
    accepts: (value) => accesses.has(value as object),
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
  const access = accesses.get(client) as ServiceAccess;
  const user = {
    accountSid: client.accountSid,
    entityIdentity: `rehearsal-${crypto.randomUUID()}`,
  };
  const rows = new RehearsalRows();
  const isReady =
    (await checkService(access, rows)) && (await checkWebhook(push, client.webhooks, rows));
  if (isReady) {
    const phone = new VirtualPhone(access, user.entityIdentity);
    try {
      await signIn(phone, push, user, timeoutMs, rows);
    } finally {
      await removeUser(phone, rows);
    }
  }
  return rows.toReport(user.entityIdentity);
}

/** Asks for the service: that shows credentials, address and SID. */
async function checkService(access: ServiceAccess, rows: RehearsalRows): Promise<boolean> {
  const request = { method: "GET", url: access.serviceUrl } as const;
  try {
    await access.send(request, z.looseObject({ sid: z.string() }));
    rows.ok("credentials");
    rows.ok("service");
    return true;
  } catch (error) {
    const problem = describeApiError(error);
    const { status, serviceCode } = error as ApiError;
    if (status === 401 || status === 403) {
      const fix =
        "Set username and password of the client: the auth token of the account, or a Key and its secret.";
      rows.fail("credentials", { ...problem, fix });
      return false;
    }
    // The service itself has answered, so it accepted them.
    if (serviceCode !== undefined) rows.ok("credentials");
    rows.fail("service", { ...problem, fix: "Set verifyUrl and serviceSid of the client." });
    return false;
  }
}

/** Registers the phone, approves a challenge, and waits for the login. */
async function signIn(
  phone: VirtualPhone,
  push: PushWebhooks,
  user: QueueUser,
  timeoutMs: number,
  rows: RehearsalRows,
): Promise<void> {
  const factorSid = await rows.attempt("factor", () => phone.register());
  if (factorSid === undefined) return;
  rows.ok("factor");
  const inspection = inspectReceiver(push) as ReceiverInspection;
  let arrival: Arrival | undefined;
  try {
    const challenge = await rows.attempt("challenge", async () => {
      const asked = await phone.ask(factorSid);
      const clockAheadMs = Date.now() - (Date.parse(asked.date_created ?? "") || Date.now());
      arrival = new Arrival(inspection, asked.sid, user, timeoutMs * 2);
      await phone.approve(asked.sid);
      return { arrival, clockAheadMs };
    });
    if (challenge === undefined) return;
    rows.ok("challenge");
    rows.startMs = challenge.arrival.startMs;
    await challenge.arrival.waitUntilOver(timeoutMs);
    await judgeArrival({ ...challenge, publicUrl: push.publicUrl, rows, timeoutMs });
  } finally {
    arrival?.close();
  }
}

async function removeUser(phone: VirtualPhone, rows: RehearsalRows): Promise<void> {
  rows.startMs = performance.now();
  try {
    if (await phone.remove()) rows.ok("removed");
  } catch (error) {
    const isGone = error instanceof ApiError && error.status === 404;
    if (isGone) return rows.ok("removed");
    const fix = `Delete the entity ${phone.identity} at the service.`;
    rows.fail("removed", { ...describeApiError(error), fix });
  }
}
