import type { ResendResult } from "../console-view";
import { ProblemError, send } from "./api";
import { Dialog } from "./dialog";
import { plural } from "./format";

/** The dialog that runs the handlers again for the events of requests. */
export function Resend({ ids }: { ids: readonly number[] }) {
  const events = plural(ids.length, "event");
  async function submit(): Promise<string> {
    const { results } = await send<{ results: ResendResult[] }>("POST", "console/resend", { ids });
    const failed = results.filter(({ problem }) => problem !== undefined);
    if (failed.length === 0) return `The handlers ran again for ${events}.`;
    const problems = [...new Set(failed.map(({ problem }) => problem))].join(" ");
    throw new ProblemError(0, problems, `${failed.length} of ${events} failed.`);
  }
  return (
    <Dialog title={`Run the handlers again for ${events}?`} action="Run again" submit={submit}>
      <p>
        They run in this process, or in a worker for a dead letter, also if they succeeded before.
      </p>
    </Dialog>
  );
}
