import { useState } from "preact/hooks";
import type { RehearsalReport } from "../../rehearsal/report";
import { WriteButton } from "./action";
import { send } from "./api";
import { Pill } from "./blocks";
import { Dialog, openDialog } from "./dialog";
import { formatDuration } from "./format";
import { Fact, Received } from "./received";

const TONES = { ok: "good", failed: "bad", skipped: "off" } as const;

/** The button that rehearses a login, with its result. */
export const RehearseButton = () => (
  <WriteButton label="Rehearse a login" run={() => openDialog(<Rehearsal />)} />
);

function Rehearsal() {
  const [report, setReport] = useState<RehearsalReport>();
  async function submit(): Promise<string> {
    const found = await send<RehearsalReport>("POST", "rehearsal");
    setReport(found);
    return found.isOk ? "The login succeeded." : "The login failed.";
  }
  return (
    <Dialog title="Rehearse a login" action="Start the rehearsal" staysOpen submit={submit}>
      <p>
        A virtual phone registers at the service and approves a login, up to 30 s, for one factor
        and one challenge. <b>Your handlers run for its events.</b>
      </p>
      <dl class="facts">
        {report?.rows.map(({ link, result, durationMs, reason, fix }) => (
          <Fact key={link} name={link}>
            <Pill tone={TONES[result]}>{result}</Pill>{" "}
            {durationMs !== undefined && formatDuration(durationMs)}{" "}
            {reason !== undefined && <Received text={reason} />} {fix}
          </Fact>
        ))}
      </dl>
    </Dialog>
  );
}
