import type { Request, Response } from "express";
import { hostname } from "node:os";
import * as z from "zod";
import {
  inspectReceiver,
  type Journal,
  MemoryJournal,
  PUSH_EVENT_TYPES,
  type PushWebhooks,
  type ReceiverInspection,
} from "../../core/door";
import { hideUserInfo } from "../../kit/url";
import type { AdminClient } from "../client/client";
import type { Route } from "../http/route";
import { RouterError } from "../http/router-error";
import { runForAll } from "./action-lines";
import { readAssets, type Asset } from "./assets";
import type {
  ConsoleSettings,
  DeadLetterChoice,
  DeadLetterName,
  RequestDetails,
  RequestRow,
  ResendChoice,
  ViewRequest,
} from "./console-view";
import { findLogin } from "./find-login";
import { JournalView } from "./journal-view";
import { chooseDeadLetters, nameFailures, readQueue, type ConsoleQueue } from "./queue-view";
import { nameEvent, toStepView } from "./request-row";
import { chooseRequests, resendRequest, resendSchema } from "./resend";
import { createShow, viewSchema } from "./shown-history";
import { sendTestEvent, testEventSchema, type TestEventChoice } from "./test-event";
import { listUserRoutes } from "./user-routes";

/** What a console shows. */
export interface ConsoleParts {
  client: AdminClient;
  receiver?: PushWebhooks | undefined;
  queue?: ConsoleQueue | undefined;
  /** The history of the receiver, or of the queue. */
  journal: Journal;
  readOnly: boolean;
  reveals: boolean;
  /** Names the person who sent a request. */
  readActor(req: Request): Promise<string | undefined>;
}

const PROCESS = `${process.pid} on ${hostname()}`;

/**
 * Returns the history of a receiver: that of its queue, else one in memory, which begins now. Without a
 * receiver it is that of a queue.
 */
export function openJournal(receiver?: PushWebhooks, queue?: ConsoleQueue): Journal {
  const inspection = receiver && inspectReceiver(receiver);
  return inspection?.openJournal(PROCESS) ?? queue?.journal ?? new MemoryJournal(PROCESS);
}

const deadLetterSchema = z.strictObject({
  uuid: z.string().min(1).max(256),
  accountSid: z.string().max(64),
  receiver: z.string().max(100).optional(),
});
const deadLetterChoiceSchema = z.union([
  z.strictObject({ deadLetters: z.array(deadLetterSchema).min(1).max(1_000) }),
  z.strictObject({
    error: z.string().max(1_000).optional(),
    count: z.int().min(1),
    untilMs: z.number(),
  }),
]);

/**
 * Creates the routes of a console: the files of its page, and the data that these read and write.
 *
 * @throws Error when the files of the page are missing.
 */
export function createConsole({ queue: given, ...others }: ConsoleParts): Route[] {
  const queue = given && nameFailures(given);
  const parts = { ...others, queue };
  const { client, receiver: push, journal, readOnly, reveals } = parts;
  const routes = readAssets().map((asset): Route => ({
    method: "get",
    path: asset.path,
    run: (req, _input, _audited, res) => sendAsset(asset, req, res),
  }));
  const inspection = push && inspectReceiver(push);
  const publicUrls = push?.publicUrls.map(hideUserInfo) ?? [];
  const view = new JournalView(journal, queue !== undefined);
  routes.push(
    read("/console", (): ConsoleSettings => ({
      name: inspection?.name,
      readOnly,
      keySid: client.keySid,
      eventTypes: PUSH_EVENT_TYPES,
      hasQueue: queue !== undefined,
      receiver: push &&
        inspection && {
          publicUrls,
          isUrlComplete: publicUrls[0] === push.publicUrl,
          tokenCount: inspection.tokenCount,
          handledTypes: push.handledTypes(),
          hasConfirm: inspection.confirm !== undefined,
          canSendTest: inspection.signRequest !== undefined && !readOnly,
        },
    })),
    ...listHistoryRoutes(parts, view, inspection),
  );
  if (push && inspection) routes.push(...listReceiverRoutes(parts, view, push, inspection));
  if (queue === undefined) return routes;
  routes.push(read("/console/queue", () => readQueue(queue, journal, reveals)));
  for (const change of ["retry", "discard"] as const) {
    routes.push(createChange(change, queue, parts));
  }
  routes.push(...listUserRoutes(queue));
  return routes;
}

function read(path: string, run: Route["run"]): Route {
  return { method: "get", path, run };
}

/** The routes that read the history. Each with a text of a person is a POST: addresses are in many logs. */
function listHistoryRoutes(
  { client, queue, journal, reveals }: ConsoleParts,
  view: JournalView,
  inspection: ReceiverInspection | undefined,
): Route[] {
  const show = createShow(view, inspection, PROCESS);
  return [
    {
      method: "post",
      path: "/console/view",
      input: viewSchema,
      run: (_req, request: ViewRequest) => show(request),
    },
    {
      method: "post",
      path: "/console/search",
      input: z.strictObject({ text: z.string().min(1).max(1_100) }),
      async run(_req, { text }: { text: string }) {
        const history = await view.read();
        const places = { client, history, journal, inspection, queue, reveals };
        return findLogin(text, { ...places, processName: PROCESS });
      },
    },
    read("/console/requests/:id", async ({ params }): Promise<RequestDetails> => {
      const { rows, steps } = await view.read();
      const row = rows.find(({ id }) => id === params.id);
      if (row === undefined) {
        const message =
          "This request is not in the history, which keeps the last ones for 24 hours.";
        throw new RouterError(404, "NOT_FOUND", message);
      }
      const own = row.isAuthenticated ? (steps.get(nameEvent(row)) ?? []) : [];
      return { row, steps: own.map(toStepView), queued: await findQueued(row, queue) };
    }),
  ];
}

async function findQueued(
  { uuid = "", accountSid, isAuthenticated }: RequestRow,
  queue: ConsoleQueue | undefined,
): Promise<RequestDetails["queued"]> {
  const found = isAuthenticated ? await queue?.find(uuid, { accountSid }) : undefined;
  if (found === undefined) return undefined;
  const { state, attempts, at } = found;
  return { state, attempts, atMs: at?.getTime() };
}

function listReceiverRoutes(
  { client, queue, journal, readActor }: ConsoleParts,
  view: JournalView,
  push: PushWebhooks,
  inspection: ReceiverInspection,
): Route[] {
  const { redeliver, signRequest } = inspection;
  const routes: Route[] = [
    read("/console/findings", async () => ({ findings: await client.webhooks.check(push) })),
    {
      method: "post",
      path: "/console/resend",
      action: "request.resend",
      input: resendSchema,
      async run(req, choice: ResendChoice, audited, res) {
        const all = await chooseRequests(await view.read(), choice, journal);
        const how = { push, redeliver, queue, journal, by: await readActor(req) };
        if (all.length === 1) audited.uuid = all[0]?.uuid;
        async function run(row: RequestRow) {
          const problem = await resendRequest(row, how);
          if (all.length === 1) audited.code = problem;
          return problem === undefined ? undefined : { id: row.id, problem };
        }
        await runForAll(res, audited, { count: all.length, all, run });
      },
    },
  ];
  if (signRequest === undefined) return routes;
  routes.push({
    method: "post",
    path: "/console/test-event",
    action: "test-event.send",
    input: testEventSchema,
    async run(_req, choice: TestEventChoice, audited) {
      const result = await sendTestEvent(choice, push, inspection, signRequest);
      audited.uuid = result.uuid;
      audited.code = result.failure ?? (result.status === 200 ? undefined : result.status);
      return result;
    },
  });
  return routes;
}

/** The route that retries or discards dead letters. */
function createChange(
  change: "retry" | "discard",
  queue: ConsoleQueue,
  { readActor }: ConsoleParts,
): Route {
  return {
    method: "post",
    path: `/console/dead-letters/${change}`,
    action: `dead-letter.${change}`,
    input: deadLetterChoiceSchema,
    async run(req, choice: DeadLetterChoice, audited, res) {
      const by = await readActor(req);
      const isList = "deadLetters" in choice;
      const count = isList ? choice.deadLetters.length : choice.count;
      if (isList && count === 1) audited.uuid = choice.deadLetters[0]?.uuid;
      async function run({ uuid, accountSid, receiver }: DeadLetterName) {
        if (!(await queue[change](uuid, { accountSid, receiver, by }))) {
          return { id: uuid, problem: "It is no dead letter any more." };
        }
        // Of a dead letter that has it, and not any text of a client.
        if (!isList) audited.error = choice.error;
        return undefined;
      }
      await runForAll(res, audited, { count, all: chooseDeadLetters(queue, choice), run });
    },
  };
}

function sendAsset({ path, contentType, body }: Asset, req: Request, res: Response): void {
  const [pathname = ""] = req.originalUrl.split("?", 1);
  if (path === "/" && !pathname.endsWith("/")) {
    // Relative links need the slash. The last segment alone: a proxy may have rewritten the others.
    res.setHeader("Location", `./${pathname.slice(pathname.lastIndexOf("/") + 1)}/`);
    res.status(307).end();
  } else {
    res.setHeader("Content-Type", contentType);
    res.status(200).end(body);
  }
}
