import { collectMetrics } from "express-push-verification";
import { publish } from "../../../lib/core/observability/diagnostics";

it("returns the counts since the call in the text format of Prometheus", () => {
  publish("received", () => ({ method: "POST" }));
  const readMetrics = collectMetrics();
  publish("duplicate", () => ({ type: "factor.created" }));
  // An account may sign any text as a type: each would be kept for ever.
  publish("duplicate", () => ({ type: 'new "type"\\\n' }));
  publish("duplicate", () => ({ type: "factor.snoozed" }));
  for (const durationMs of [4, 500, 9_000]) {
    publish("rejected", () => ({ code: "SIGNATURE_MISMATCH", status: 403, durationMs }));
  }
  expect(readMetrics({ waiting: 2, isPaused: "no", oldestWaitingMs: 1_500 })).toBe(
    `# HELP push_webhooks_total Webhook requests and events by result.
# TYPE push_webhooks_total counter
push_webhooks_total{what="duplicate",code="",type="factor.created"} 1
push_webhooks_total{what="duplicate",code="",type="other"} 2
push_webhooks_total{what="rejected",code="SIGNATURE_MISMATCH",type=""} 3
# HELP push_webhooks_seconds Time to reject, to store or to handle.
# TYPE push_webhooks_seconds histogram
push_webhooks_seconds_bucket{what="rejected",le="0.001"} 0
push_webhooks_seconds_bucket{what="rejected",le="0.005"} 1
push_webhooks_seconds_bucket{what="rejected",le="0.02"} 1
push_webhooks_seconds_bucket{what="rejected",le="0.1"} 1
push_webhooks_seconds_bucket{what="rejected",le="0.5"} 2
push_webhooks_seconds_bucket{what="rejected",le="2"} 2
push_webhooks_seconds_bucket{what="rejected",le="8"} 2
push_webhooks_seconds_bucket{what="rejected",le="+Inf"} 3
push_webhooks_seconds_sum{what="rejected"} 9.504
push_webhooks_seconds_count{what="rejected"} 3
# TYPE push_webhooks_queue_waiting gauge
push_webhooks_queue_waiting 2
# TYPE push_webhooks_queue_oldest_waiting_seconds gauge
push_webhooks_queue_oldest_waiting_seconds 1.5
`,
  );
  expect(readMetrics()).not.toContain("queue");
});
