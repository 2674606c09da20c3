import type { ServerResponse } from "node:http";
import type { Audited } from "../http/audit";
import { toRouterError } from "../http/router-error";

/** How often a line says how far an action is, at most. */
const LINE_EVERY_MS = 100;

/** A line of newline-delimited JSON; the last one has `result`, or the error that ended the action. */
export interface ActionLine {
  done: number;
  count: number;
  /** How many were changed, and why others were not. */
  result?: { changed: number; problems: readonly string[] };
  error?: { code: string; message: string; status: number };
}

/**
 * Runs an action on many, one after the other, and tells how far it is. It stops when the connection is
 * closed. What was done is in `audited`, also when the rest failed.
 *
 * @param run returns why one was not changed; undefined when it was.
 * @throws the error of the first one; a later error is told in the last line.
 */
export async function runForAll<One>(
  res: ServerResponse,
  audited: Audited,
  count: number,
  all: Iterable<One> | AsyncIterable<One>,
  run: (one: One) => Promise<string | undefined>,
): Promise<void> {
  const problems: string[] = [];
  let done = 0;
  let toldAtMs = -Infinity;

  function tell(end: Partial<ActionLine> = {}): void {
    if (!res.headersSent) {
      res.statusCode = 200;
      res.setHeader("Content-Type", "application/x-ndjson");
      // nginx would keep the lines until the end.
      res.setHeader("X-Accel-Buffering", "no");
    }
    res.write(`${JSON.stringify({ done, count, ...end })}\n`);
    toldAtMs = performance.now();
  }

  audited.count = 0;
  try {
    for await (const one of all) {
      if (res.destroyed) {
        audited.code = "STOPPED";
        return;
      }
      const problem = await run(one);
      if (problem === undefined) audited.count++;
      else problems.push(problem);
      done++;
      if (performance.now() - toldAtMs >= LINE_EVERY_MS) tell();
    }
    tell({ result: { changed: audited.count, problems } });
  } catch (thrown) {
    if (!res.headersSent) throw thrown;
    const { code, message, status } = toRouterError(thrown);
    audited.code = code;
    tell({ error: { code: String(code), message, status } });
  }
  res.end();
}
