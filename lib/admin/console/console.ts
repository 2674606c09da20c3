import type { Request, Response } from "express";
import * as z from "zod";
import { inspectReceiver, type ReceiverInspection } from "../../core/door";
import { PUSH_EVENT_TYPES, type PushWebhooks } from "../../index";
import { hideUserInfo } from "../../kit/url";
import { checkWebhooks } from "../client/configuration-drift";
import { webhookSchema } from "../client/resource-schemas";
import type { Webhook } from "../client/webhook";
import type { Route } from "../http/route";
import { runForAll } from "./action-lines";
import { readAssets, type Asset } from "./assets";
import {
  chooseDeadLetters,
  deadLetterChoiceSchema,
  type DeadLetterChoice,
  type DeadLetterName,
} from "./dead-letter-choice";
import { findLogin } from "./find-login";
import { JournalView } from "./journal-view";
import type { OpenConsole } from "./open-console";
import { readQueue, type ConsoleQueue } from "./queue-view";
import type { RequestRow } from "./request-row";
import { chooseRequests, resendRequest, resendSchema, type ResendChoice } from "./resend";
import { pollSchema, show } from "./shown-history";

/**
 * Creates the routes of a console: the files of its page, and the data that these read and write.
 *
 * @throws Error when the files of the page are missing.
 */
export function createConsole(parts: Omit<OpenConsole, "inspection" | "view">): Route[] {
  const { receiver, queue, journal } = parts;
  const inspection = receiver && inspectReceiver(receiver);
  const opened = { ...parts, inspection, view: new JournalView(journal, queue !== undefined) };
  return [
    ...readAssets().map((asset) =>
      read(asset.path, (req, _input, _audited, res) => sendAsset(asset, req, res)),
    ),
    read("/console", () => readSettings(opened)),
    read("/console/webhooks", () => readWebhooks(opened)),
    ...listHistoryRoutes(opened),
    ...(receiver && inspection ? listReceiverRoutes(opened, receiver, inspection) : []),
    ...(queue ? listQueueRoutes(opened, queue) : []),
  ];
}

function read(path: string, run: Route["run"]): Route {
  return { method: "get", path, run };
}

/** The settings of a console. */
export type ConsoleSettings = ReturnType<typeof readSettings>;

function readSettings({ client, receiver: push, inspection, queue, readOnly }: OpenConsole) {
  return {
    name: inspection?.name,
    readOnly,
    keySid: client.keySid,
    eventTypes: PUSH_EVENT_TYPES,
    hasQueue: queue !== undefined,
    receiver: push &&
      inspection && {
        publicUrls: push.publicUrls.map(hideUserInfo),
        tokenCount: inspection.tokenCount,
        handledTypes: push.handledTypes(),
      },
  };
}

const webhookBody = z.object(webhookSchema.shape);

/** The Webhooks of the service, and what to mend now. */
export type ServiceWebhooks = Awaited<ReturnType<typeof readWebhooks>>;

async function readWebhooks({ client, receiver }: OpenConsole) {
  const webhooks: Webhook[] = [];
  for await (const webhook of client.webhooks.list()) webhooks.push(webhook);
  const findings = receiver === undefined ? [] : await checkWebhooks(webhooks, receiver);
  // The others may follow from a URL that differs: mended before it, events would arrive twice.
  const causes = findings.filter(({ code }) => code === "URL_DIFFERS");
  return {
    webhooks: webhooks.map((webhook) => {
      // Without other fields that the service adds. User info is a password.
      const shown = webhookBody.parse(webhook);
      shown.webhook_url &&= hideUserInfo(shown.webhook_url);
      return shown;
    }),
    findings: causes.length > 0 ? causes : findings,
  };
}

/** Each with a text of a person is a POST: addresses are in many logs. */
function listHistoryRoutes(opened: OpenConsole): Route[] {
  return [
    {
      method: "post",
      path: "/console/view",
      input: pollSchema,
      run: (_req, poll: z.output<typeof pollSchema>) => show(poll, opened),
    },
    {
      method: "post",
      path: "/console/search",
      input: z.strictObject({ text: z.string().min(1).max(1_100) }),
      run: (_req, { text }: { text: string }) => findLogin(text, opened),
    },
  ];
}

function listReceiverRoutes(
  { queue, journal, view, readActor }: OpenConsole,
  push: PushWebhooks,
  inspection: ReceiverInspection,
): Route[] {
  const { redeliver } = inspection;
  return [
    {
      method: "post",
      path: "/console/resend",
      action: "request.resend",
      input: resendSchema,
      async run(req, choice: ResendChoice, audited, res) {
        const all = await chooseRequests(await view.read(), choice, journal);
        const how = { push, redeliver, queue, journal, by: await readActor(req) };
        if (all.length === 1) audited.uuid = all[0]?.uuid;
        await runForAll(res, audited, all.length, all, async (row: RequestRow) => {
          const problem = await resendRequest(row, how);
          if (all.length === 1) audited.code = problem;
          return problem;
        });
      },
    },
  ];
}

function listQueueRoutes(
  { journal, reveals, readActor }: OpenConsole,
  queue: ConsoleQueue,
): Route[] {
  const createChange = (change: "retry" | "discard"): Route => ({
    method: "post",
    path: `/console/dead-letters/${change}`,
    action: `dead-letter.${change}`,
    input: deadLetterChoiceSchema,
    async run(req, choice: DeadLetterChoice, audited, res) {
      const by = await readActor(req);
      const isOne = "uuid" in choice;
      const count = isOne ? 1 : choice.count;
      if (isOne) audited.uuid = choice.uuid;
      const all = chooseDeadLetters(queue, choice);
      await runForAll(res, audited, count, all, async (name: DeadLetterName) => {
        const { uuid, accountSid, receiver } = name;
        const isChanged = await queue[change](uuid, { accountSid, receiver, by });
        if (!isChanged) return "It is no dead letter any more.";
        // Of a dead letter that has it, and not any text of a client.
        if (!isOne) audited.error = choice.error;
        return undefined;
      });
    },
  });
  return [
    read("/console/queue", () => readQueue(queue, journal, reveals)),
    createChange("retry"),
    createChange("discard"),
  ];
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
