import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ActionLine } from "../console-view";
import { ProblemError, runAction } from "./api";
import { Dialog } from "./dialog";
import { formatCount, plural } from "./format";

/**
 * A dialog with an action on many events, which the server does one after the other: it shows how many
 * are done, "Stop" ends it, and what was done is said.
 */
export function ActionDialog(props: {
  title?: string;
  action: string;
  isDangerous?: boolean;
  path: string;
  choice: object;
  count: number;
  /** What has happened to an event then, such as "discarded". */
  done: string;
  /** Runs at the end of the action, also when it was stopped or failed. */
  finish: () => Promise<unknown>;
  children: ComponentChildren;
}) {
  const { path, choice, count, done, finish, ...dialog } = props;
  const [line, setLine] = useState<ActionLine>({ done: 0, count });
  async function submit(_data: FormData, stop: AbortSignal): Promise<string> {
    try {
      return await runAndDescribe(path, choice, done, stop, setLine);
    } finally {
      await finish();
    }
  }
  return <Dialog {...dialog} progress={{ done: line.done, of: line.count }} submit={submit} />;
}

/** Runs an action on many events. @returns what was done @throws ProblemError also when some failed */
export async function runAndDescribe(
  path: string,
  choice: object,
  done: string,
  stop = new AbortController().signal,
  report: (line: ActionLine) => void = () => {},
): Promise<string> {
  let last: ActionLine = { done: 0, count: 0 };
  try {
    const { result } = await runAction(path, choice, stop, (line) => report((last = line)));
    if (result === undefined) return `Stopped: ${describeDone(last)}`;
    const { changed, problems } = result;
    const said = `${plural(changed, "event")} ${done}.`;
    if (problems.length === 0) return said;
    const reasons = [...new Set(problems)].join(" ");
    throw new ProblemError(0, "", `${said} ${formatCount(problems.length)} not: ${reasons}`);
  } catch (error) {
    if (!(error instanceof ProblemError) || last.done === 0 || error.code === "") throw error;
    throw new ProblemError(error.status, error.code, `${error.message} ${describeDone(last)}`);
  }
}

/** The server may have done more than its last line says. */
const describeDone = ({ done, count }: ActionLine): string =>
  `at least ${formatCount(done)} of ${plural(count, "event")} were done.`;
