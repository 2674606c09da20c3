import type { RequestRow, TokenUse } from "../console-view";
import { formatTime, plural, shortenSid } from "./format";
import type { Live } from "./live";
import { clearFilter } from "./request-filter";
import { replacePlace } from "./route";

/** Opens a row, and moves the focus to it. */
function revealRow(id: number): void {
  clearFilter();
  replacePlace({ id: String(id) });
  requestAnimationFrame(() => {
    const toggle = document.getElementById(`request-${id}`);
    toggle?.focus();
    toggle?.scrollIntoView({ block: "center" });
  });
}

/** What needs attention above the list: mismatches by cause, a rotation, conflicts. */
export function Notices({ rows, totals }: Pick<Live, "rows" | "totals">) {
  const mismatches = new Map<string | undefined, RequestRow[]>();
  for (const row of rows.filter(({ code }) => code === "SIGNATURE_MISMATCH")) {
    const { explanation } = row;
    const cause = explanation && `${explanation.cause} ${explanation.subject}`;
    mismatches.set(cause, [...(mismatches.get(cause) ?? []), row]);
  }
  const conflicts = rows.filter(({ result }) => result === "conflict");
  return (
    <div class="notices">
      {[...mismatches].map(([cause, group]) => (
        <RowsNotice
          key={cause}
          rows={group}
          tone="bad"
          title={`${plural(group.length, "request")} of the last ${rows.length} had a wrong signature.`}
          text={group[0]?.explanation?.cause ?? "Open the request to find the cause."}
        />
      ))}
      {totals?.rotation.map((use) => (
        <RotationNotice key={use.accountSid} {...use} />
      ))}
      {conflicts.length > 0 && (
        <RowsNotice
          rows={conflicts}
          tone="warn"
          title={`${plural(conflicts.length, "request")} reused a uuid with other content.`}
          text="Only the first was handled."
        />
      )}
    </div>
  );
}

function RowsNotice(props: {
  rows: readonly RequestRow[];
  tone: string;
  title: string;
  text: string;
}) {
  const newest = props.rows[0]?.id ?? 0;
  return (
    <div class={`notice ${props.tone}`}>
      <p>
        <b>{props.title}</b> {props.text}
      </p>
      <button type="button" onClick={() => revealRow(newest)}>
        Show the request
      </button>
    </div>
  );
}

/** Token 1 is the new one; the others are older. */
function RotationNotice({ accountSid, tokens }: TokenUse) {
  const total = tokens.reduce((sum, { count }) => sum + count, 0);
  const old = tokens.slice(1).reduce((sum, { count }) => sum + count, 0);
  const lastAtMs = Math.max(...tokens.slice(1).map((token) => token.lastAtMs ?? 0));
  const list = tokens.map(({ count }, index) => `token ${index + 1}: ${count}`).join(", ");
  const account = (
    <span class="mono" title={accountSid}>
      {shortenSid(accountSid)}
    </span>
  );
  if (old === 0) {
    return (
      <div class="notice good">
        <p>
          <b>The last {plural(total, "request")} used token 1.</b> Account {account} no longer uses
          the older token. When a day has passed, remove it from authToken.
        </p>
      </div>
    );
  }
  return (
    <div class="notice warn">
      <p>
        <b>
          {plural(old, "request")} of the last {total} used an older token.
        </b>{" "}
        The rotation is not finished: account {account} used it at {formatTime(lastAtMs).time} (
        {list}
        ).
      </p>
    </div>
  );
}
