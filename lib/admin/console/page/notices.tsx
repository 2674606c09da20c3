import type { RequestRow, TokenUse } from "../console-view";
import { Button } from "./action";
import { Notice, type Tone } from "./blocks";
import { formatTime, plural } from "./format";
import type { Live } from "./live";
import { replacePlace } from "./route";

/** Empties the filter, opens a row, and moves the focus to it. */
function revealRow(id: string): void {
  replacePlace({ id, query: new URLSearchParams() });
  requestAnimationFrame(() => {
    const toggle = document.getElementById(`request-${id}`);
    toggle?.focus();
    toggle?.scrollIntoView({ block: "center" });
  });
}

/** Notices above the list: mismatches by cause, a rotation, conflicts. */
export function Notices({ rows, totals }: Pick<Live, "rows" | "totals">) {
  const mismatches = rows.filter(({ code }) => code === "SIGNATURE_MISMATCH");
  const groups = Map.groupBy(
    mismatches,
    ({ explanation }) => explanation && `${explanation.cause} ${explanation.subject}`,
  );
  const conflicts = rows.filter(({ result }) => result === "conflict");
  return (
    <>
      {[...groups.values()].map((group) =>
        noticeRows(
          group,
          "bad",
          `${plural(group.length, "request")} of the last ${rows.length} had a wrong signature.`,
          group[0]?.explanation?.cause ?? "Open the request to find the cause.",
        ),
      )}
      {totals?.rotation.map((use) => (
        <RotationNotice key={use.accountSid} {...use} />
      ))}
      {conflicts.length > 0 &&
        noticeRows(
          conflicts,
          "warn",
          `${plural(conflicts.length, "request")} reused a uuid with other content.`,
          "Only the first was handled.",
        )}
    </>
  );
}

function noticeRows(rows: readonly RequestRow[], tone: Tone, title: string, text: string) {
  const button = (
    <Button run={() => revealRow(rows[0]?.id ?? "")}>
      Show<span class="word"> the request</span>
    </Button>
  );
  return (
    <Notice key={text} tone={tone} title={title} button={button}>
      <span class="more">{text}</span>
    </Notice>
  );
}

/** Token 1 is the new one; the others are older. */
function RotationNotice({ accountSid, tokens }: TokenUse) {
  const total = tokens.reduce((sum, { count }) => sum + count, 0);
  const old = tokens.slice(1).reduce((sum, { count }) => sum + count, 0);
  const last = formatTime(Math.max(...tokens.slice(1).map(({ lastAtMs = 0 }) => lastAtMs)));
  const list = tokens.map(({ count }, index) => `token ${index + 1}: ${count}`).join(", ");
  const account = <code>{accountSid}</code>;
  return old === 0 ? (
    <Notice tone="good" title={`The last ${plural(total, "request")} used token 1.`}>
      Account {account} no longer uses the older token. When a day has passed, remove it from
      authToken.
    </Notice>
  ) : (
    <Notice
      tone="warn"
      title={`${plural(old, "request")} of the last ${total} used an older token.`}
    >
      The rotation is not finished.{" "}
      <span class="more">
        Account {account} used it at {last} ({list}).
      </span>
    </Notice>
  );
}
