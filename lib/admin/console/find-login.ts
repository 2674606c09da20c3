import * as z from "zod";
import { groupBy } from "../../kit/group-by";
import { maskIdentity } from "../../kit/masked-identity";
import { PROCESS_NAME } from "../../kit/process-name";
import { ANY_SID } from "../../kit/sid";
import { cutText } from "../../kit/text";
import { ApiError } from "../client/api-error";
import type { AdminClient } from "../client/client";
import { InputError } from "../client/input-error";
import { factorUserSchema, parseInput } from "../client/input-rules";
import { challengeSchema } from "../client/resource-schemas";
import { accesses } from "../client/service-access";
import { findKept } from "./journal-view";
import type { OpenConsole } from "./open-console";
import { readField, toRow, type DeadLetterRow } from "./queue-view";
import { isBad, readSought, selectRows } from "./request-filter";
import type { RequestRow } from "./request-row";

const MAX_FOUND = 20;
const MAX_CHALLENGES = 3;

/** A trace of a challenge. */
interface Trace {
  challengeSid: string | undefined;
  atMs: number;
  /** Its user, if the trace tells it. */
  identity?: string | undefined;
  /** The request that is the trace. */
  row?: RequestRow | undefined;
  /** The challenge, if the service told it. */
  challenge?: z.output<typeof challengeSchema> | undefined;
}

/** What is known of a login. */
export type LoginSearch = Awaited<ReturnType<typeof findLogin>>;

/**
 * Finds a login by the identity or the pseudonym of its user, its challenge, its factor or the uuid of
 * an event: in the requests, in the dead letters, in the waits of this process, and at the service. Of a
 * challenge whose user is not known here, the service needs the identity, too: `<challenge SID> <identity>`.
 */
export async function findLogin(text: string, opened: OpenConsole) {
  const { client, journal, inspection, reveals, view } = opened;
  const { sought, identity } = readSought(text);
  const person = await journal.createPseudonym(sought);
  const all = (await view.read()).rows;
  const rows = await selectRows(all, { text }, journal);
  const waits = (inspection?.listPendingWaits() ?? []).filter(
    ({ entityIdentity, challengeSid }) => entityIdentity === sought || challengeSid === sought,
  );
  const letters = await searchDeadLetters(sought, opened);
  const { told, problem } = ANY_SID.test(sought)
    ? { told: [], problem: "NOT_ASKED" }
    : await listChallenges(sought, client);
  const traces: Trace[] = [
    ...told,
    ...waits.map(({ challengeSid, entityIdentity, startedAtMs }) => {
      return { challengeSid, atMs: startedAtMs, identity: entityIdentity };
    }),
    ...letters.map(({ row: { challengeSid, failedAtMs }, identity: user }) => {
      return { challengeSid, atMs: failedAtMs, identity: user };
    }),
    ...rows.map((row) => {
      const { challengeSid, atMs } = row;
      return { challengeSid, atMs, identity: row.person === person ? sought : undefined, row };
    }),
  ];
  if (identity !== undefined) traces.push({ challengeSid: sought, atMs: Infinity, identity });
  return {
    /** How many requests. */
    found: rows.length,
    deadLetters: letters.map(({ row }) => row),
    /** The waits of `process`, which responds. */
    waits: waits.map(({ challengeSid, entityIdentity, startedAtMs }) => {
      const entity = reveals ? cutText(entityIdentity) : maskIdentity(entityIdentity);
      return { challengeSid, entity, startedAtMs };
    }),
    process: PROCESS_NAME,
    challenges: await Promise.all(chooseNewest(traces).map((one) => askService(one, all, opened))),
    /** Why the service has told no challenges of the user. */
    problem,
  };
}

/** Reads all dead letters, as the store knows no identity. */
async function searchDeadLetters(
  sought: string,
  { queue, journal, reveals }: OpenConsole,
): Promise<{ row: DeadLetterRow; identity: string | undefined }[]> {
  const letters: { row: DeadLetterRow; identity: string | undefined }[] = [];
  for await (const deadLetter of queue?.deadLetters({ newestFirst: true }) ?? []) {
    const identity = readField(deadLetter.event, "entity_identity");
    const row = await toRow(deadLetter, journal, reveals);
    const { uuid, challengeSid, factorSid, person } = row;
    if ([identity, uuid, challengeSid, factorSid, person].includes(sought)) {
      letters.push({ row, identity });
    }
    if (letters.length === MAX_FOUND) break;
  }
  return letters;
}

const challengesSchema = z.looseObject({ challenges: z.array(challengeSchema) });

/** Lists the newest challenges of a user at the service, or why it does not tell them. */
async function listChallenges(
  entityIdentity: string,
  client: AdminClient,
): Promise<{ told: Trace[]; problem: string | undefined }> {
  const access = accesses.get(client);
  if (access === undefined) return { told: [], problem: "NOT_ASKED" };
  try {
    const { entityIdentity: user } = parseInput("user", factorUserSchema, { entityIdentity });
    const path = `/Entities/${encodeURIComponent(user)}/Challenges`;
    const url = `${access.serviceUrl}${path}?Order=desc&PageSize=${MAX_CHALLENGES}`;
    const { challenges } = await access.send({ method: "GET", url }, challengesSchema);
    const told = challenges.map((challenge) => ({
      challengeSid: challenge.sid,
      atMs: Date.parse(challenge.date_created ?? "") || 0,
      identity: user,
      challenge,
    }));
    return { told, problem: undefined };
  } catch (error) {
    return { told: [], problem: nameProblem(error) };
  }
}

/**
 * Joins the traces of each challenge; returns the newest 3 challenges that are known, and the newest 3
 * that are only claimed: a client that knows an identity can send requests that claim it, and hides no others.
 */
function chooseNewest(traces: readonly Trace[]) {
  const byChallenge = groupBy(traces, ({ challengeSid = "" }) => challengeSid);
  byChallenge.delete("");
  const left = { known: MAX_CHALLENGES, claimed: MAX_CHALLENGES };
  return [...byChallenge]
    .map(([challengeSid, all]) => {
      const known = all.filter(({ row }) => row?.isAuthenticated !== false);
      const same = known.length > 0 ? known : all;
      return {
        challengeSid,
        kind: same === known ? ("known" as const) : ("claimed" as const),
        atMs: Math.max(...same.map(({ atMs }) => atMs)),
        identity: same.find((one) => one.identity !== undefined)?.identity,
        row: known.find(({ row }) => row !== undefined)?.row,
        challenge: same.find(({ challenge }) => challenge !== undefined)?.challenge,
      };
    })
    .toSorted((a, b) => b.atMs - a.atMs)
    .filter(({ kind }) => left[kind]-- > 0);
}

/** Tells what the service says of a challenge, and how many of its requests arrived. */
async function askService(
  trace: ReturnType<typeof chooseNewest>[number],
  all: readonly RequestRow[],
  opened: OpenConsole,
) {
  const { challengeSid, challenge } = trace;
  const own = all.filter((one) => one.challengeSid === challengeSid);
  const arrived = { challengeSid, requests: own.length, bad: own.filter(isBad).length };
  const fail = (problem: string) => ({ ...arrived, problem, status: null, date_responded: null });
  const entityIdentity = trace.identity ?? (await readIdentity(trace.row, opened));
  // A search for `<challenge SID> <identity>` asks.
  if (entityIdentity === undefined) return fail("NOT_ASKED");
  try {
    const { status, date_responded } =
      challenge ?? (await opened.client.challenges.fetch({ challengeSid, entityIdentity }));
    return { ...arrived, problem: undefined, status, date_responded };
  } catch (error) {
    return fail(nameProblem(error));
  }
}

/** Reads the identity of a request whose event is kept. */
async function readIdentity(
  row: RequestRow | undefined,
  { journal, queue }: OpenConsole,
): Promise<string | undefined> {
  if (row === undefined) return undefined;
  const { id, uuid = "", accountSid, receiver } = row;
  const kept = findKept(journal, id) ?? (await queue?.find(uuid, { accountSid, receiver }));
  return readField(kept?.event, "entity_identity");
}

/** `NOT_FOUND`: the service has no such user or challenge. */
function nameProblem(error: unknown): string {
  if (!(error instanceof ApiError || error instanceof InputError)) throw error;
  return error instanceof ApiError && error.status === 404 ? "NOT_FOUND" : error.code;
}
