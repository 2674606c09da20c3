import type { RequestRow } from "../../../lib/admin/console/request-row";
import { listRejections } from "../../../lib/admin/console/rejections";

it("tells how many of a code were rejected within the last 5 minutes", () => {
  const nowMs = Date.now();
  const row = { state: "rejected", code: "BODY_MALFORMED", atMs: nowMs, sender: {} };
  const counts = [6, 4, 0].map((minutes, index) => {
    const minuteMs = nowMs - minutes * 60_000;
    return { minuteMs, name: "code:BODY_MALFORMED", count: 10 ** index } as const;
  });
  expect(listRejections(counts, [row as unknown as RequestRow])).toMatchObject([
    { code: "BODY_MALFORMED", count: 111, lately: 110, firstAtMs: counts[0]?.minuteMs },
  ]);
  expect(listRejections([], [row as unknown as RequestRow])).toMatchObject([{ count: 1 }]);
});
