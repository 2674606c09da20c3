/** No client ends the process by middlewares that wrap the response. */
import { connect } from "node:net";
import { join } from "node:path";
import { createChildProcesses } from "../../support/child-processes";
import { WRAPPERS } from "../../support/response-wrappers";
import { APPS, rawRequest } from "../../support/servers";
import { eventRequest } from "../../support/webhook-requests";

const good = eventRequest("factor.created");
const { body = "" } = good;
const { "x-service-signature": _left, ...unsigned } = good.headers;

const HEADERS: Record<number, Record<string, string>> = {
  403: unsigned,
  413: good.headers,
  415: { ...good.headers, "content-type": "application/json" },
  408: { ...good.headers, "x-hurried": "yes" },
};

/** How a body arrives: with its headers, or after some bytes of the response. */
interface Form {
  length?: number;
  first: string;
  late?: string;
  isCut?: boolean;
}

const chunkOf = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const large = "x".repeat(65_537);
const FORMS: Record<string, (size: string) => Form> = {
  whole: (text) => ({ length: text.length, first: text }),
  cut: (text) => ({ length: text.length, first: text.slice(0, -9), isCut: true }),
  chunked: (text) => ({ first: chunkOf(text) }),
  slow: (text) => ({ length: text.length, first: "", late: text }),
};

function send(port: number, start: string, { first, late, isCut = false }: Form): Promise<number> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect({ port, host: "127.0.0.1" }).setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      if (text === "" && late !== undefined) socket.write(late);
      text += chunk;
      if (text.includes("\r\n\r\n")) socket.end();
    });
    socket.on("error", () => {}).on("close", () => resolve(Number(text.slice(9, 12))));
    socket.write(start + first);
    if (isCut) socket.end();
  });
}

const uncaught: string[] = [];
const processes = createChildProcesses(join(__dirname, "../../support/wrapped-app.ts"));
let ports: number[] = [];
beforeAll(async () => {
  await processes.start([], (message) => void uncaught.push(message));
  ports = JSON.parse(uncaught.shift() ?? "") as number[];
});
afterAll(processes.killAll);

const ROWS = Object.keys(HEADERS).flatMap((status) =>
  Object.entries(FORMS).flatMap(([form, create]) => {
    // A whole body is not late.
    if (status === "408" && form === "whole") return [];
    return { status: Number(status), form, sent: create(status === "413" ? large : body) };
  }),
);

const COLUMNS = APPS.flatMap(([app], index) =>
  WRAPPERS.map(([name, , throws = false], id) => [app, name, index, id, throws] as const),
);

it.each(COLUMNS)("%s, %s: only the request ends", async (...column) => {
  const [, , index, id, throws] = column;
  const statuses = ROWS.map(({ status, sent }) => {
    const { length } = sent;
    const size = length === undefined ? "transfer-encoding: chunked" : `content-length: ${length}`;
    const headers = { ...HEADERS[status], "x-wrapper": String(id) };
    return send(ports[index] ?? 0, rawRequest({ ...good, headers, body: undefined }, [size]), sent);
  });
  const got = await Promise.all(statuses);
  expect(uncaught.splice(0)).toEqual([]);
  const wrong = ROWS.flatMap(({ status, form }, row) => {
    const isExpected =
      got[row] === status ||
      // Node.js itself responds 400 when a body is cut before the response.
      (form === "cut" && got[row] === 400) ||
      (throws && (got[row] === 0 || got[row] === 500));
    return isExpected ? [] : `${status} ${form}: ${got[row]}`;
  });
  expect(wrong).toEqual([]);
});

it("still accepts events in that process", async () => {
  for (const port of ports) {
    expect(await send(port, rawRequest(good), { first: "" })).toBe(200);
  }
});
