/** The responses of a service, and of what stands in front of it, to the question of `confirm`. */
import type { ServerResponse } from "node:http";
import type { PushEventType } from "express-push-verification";
import { startServer } from "./servers";

export interface Question {
  type: PushEventType;
  identity: string;
  /** Of the challenge, or of the factor. */
  sid: string;
  factorSid: string;
}

export interface Answer {
  name: string;
  respond(res: ServerResponse, question: Question): unknown;
}

const HTML = "<html><body><h1>nginx</h1></body></html>";
const NOT_FOUND = { code: 20404, message: "The requested resource was not found", status: 404 };

const sendJson = (res: ServerResponse, status: number, body: object) =>
  res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const sendHtml = (res: ServerResponse, status: number, headers = {}) =>
  res.writeHead(status, { "content-type": "text/html", ...headers }).end(HTML);

function sendState(res: ServerResponse, question: Question, status: string, changes = {}) {
  const { identity, sid, factorSid } = question;
  const now = new Date().toISOString();
  const dates = { date_created: now, date_updated: now, date_responded: now };
  sendJson(res, 200, { sid, identity, factor_sid: factorSid, status, ...dates, ...changes });
}

const stateOf = (type: PushEventType) => type.replace(/^\w+\./, "");

function sendTruth(res: ServerResponse, question: Question): unknown {
  const { type } = question;
  if (type === "factor.deleted") return sendJson(res, 404, NOT_FOUND);
  return sendState(res, question, type === "factor.created" ? "unverified" : stateOf(type));
}

const ROWS: [name: string, respond: Answer["respond"]][] = [
  ["the state of the event", sendTruth],
  [
    "an earlier state",
    (res, question) =>
      sendState(res, question, question.type.startsWith("factor.") ? "unverified" : "pending"),
  ],
  [
    "the state of another user",
    (res, question) => sendState(res, question, stateOf(question.type), { identity: "mallory" }),
  ],
  ["404, JSON, code 20404", (res) => sendJson(res, 404, NOT_FOUND)],
  ["404, JSON of a gateway", (res) => sendJson(res, 404, { message: "no Route matched" })],
  ["404, HTML", (res) => sendHtml(res, 404)],
  ["403, HTML", (res) => sendHtml(res, 403)],
  ["502, HTML", (res) => sendHtml(res, 502)],
  ["200, HTML", (res) => sendHtml(res, 200)],
  ["302", (res) => sendHtml(res, 302, { location: "/login" })],
  ["401, code 20003", (res) => sendJson(res, 401, { code: 20003 })],
  [
    "429, Retry-After: 60",
    (res) => sendJson(res.setHeader("retry-after", "60"), 429, { code: 20429 }),
  ],
  ["500, code 20500", (res) => sendJson(res, 500, { code: 20500 })],
  ["no response", () => "hangs"],
  ["a closed connection", (res) => res.destroy()],
];

/** The first four are answers of the service itself. */
export const ANSWERS: readonly Answer[] = ROWS.map(([name, respond]) => ({ name, respond }));

/** A service that answers about each user as a test has registered it, and counts the requests. */
export async function startAnsweringService() {
  const questions = new Map<string, { question: Question; answers: Answer[]; asked: number }>();
  const port = await startServer((req, res) => {
    const [, identity = ""] = /\/Entities\/([^/]+)\//.exec(req.url ?? "") ?? [];
    const about = questions.get(identity);
    const index = Math.min(about?.asked ?? 0, (about?.answers.length ?? 0) - 1);
    if (about !== undefined) about.asked++;
    about?.answers[index]?.respond(res, about.question);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    /** Registers the answers about a user, the last one again and again. */
    answer: (question: Question, ...answers: Answer[]) =>
      void questions.set(question.identity, { question, answers, asked: 0 }),
    askedFor: (identity: string) => questions.get(identity)?.asked ?? 0,
  };
}
