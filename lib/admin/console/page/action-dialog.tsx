import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ActionLine } from "../action-lines";
import { ProblemError, runAction, UNREACHABLE } from "./api";
import { Dialog } from "./dialog";
import { formatCount, plural } from "./format";

/** An action on many events, which the server does one after the other. */
interface Action {
  path: string;
  choice: object;
  /** What has happened to an event then, such as "discarded". */
  done: string;
  /** Runs at the end, also when it was stopped or failed. */
  finish: () => Promise<unknown>;
}

/** A dialog with an action on many events: it shows how many are done, and "Stop" ends it. */
export function ActionDialog(props: {
  title?: string;
  label: string;
  isDangerous?: boolean;
  action: Action;
  count: number;
  children: ComponentChildren;
}) {
  const { action, count, label, ...dialog } = props;
  const [line, setLine] = useState<ActionLine>({ done: 0, count });
  const submit = (_data: FormData, stop: AbortSignal) => runAndDescribe(action, stop, setLine);
  return <Dialog {...dialog} action={label} progress={line} submit={submit} />;
}

/** Runs an action on many events. @returns what was done @throws ProblemError also when some failed */
export async function runAndDescribe(
  { path, choice, done, finish }: Action,
  stop = new AbortController().signal,
  report: (line: ActionLine) => void = () => {},
): Promise<string> {
  let last: ActionLine = { done: 0, count: 0 };
  try {
    for await (last of runAction(path, choice, stop)) report(last);
    const { result, error } = last;
    if (error !== undefined) throw new ProblemError(error.status, error.code, error.message);
    if (result === undefined && !stop.aborted) throw UNREACHABLE;
    if (result === undefined) return `Stopped: ${describeDone(last)}`;
    const { changed, problems } = result;
    const said = `${plural(changed, "event")} ${done}.`;
    if (problems.length === 0) return said;
    const reasons = [...new Set(problems)].join(" ");
    throw new ProblemError(0, "", `${said} ${formatCount(problems.length)} not: ${reasons}`);
  } catch (error) {
    if (!(error instanceof ProblemError) || last.done === 0 || error.code === "") throw error;
    throw new ProblemError(error.status, error.code, `${error.message} ${describeDone(last)}`);
  } finally {
    await finish();
  }
}

/** The server may have done more than its last line says. */
const describeDone = ({ done, count }: ActionLine): string =>
  `at least ${formatCount(done)} of ${plural(count, "event")} were done.`;
