/** examples/deploy/alerts.yaml: its metrics are those of the package, and Prometheus loads and tries it. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { collectMetrics } from "express-push-verification";
import type { QueueStats } from "../../lib/durable/storage";
import { DIAGNOSTIC_NAMES } from "../../lib/core/observability/diagnostics";
import { STATUS_BY_CODE } from "../../lib/core/errors/codes";
import { readText, ROOT } from "../support/docs";
import { useFolder } from "../support/folders";
import { needs } from "../support/needs";

const FILE = "examples/deploy/alerts.yaml";
const rules = readText(FILE);
const folder = useFolder();
const { PUSH_TEST_PROMTOOL = "promtool" } = process.env;
const { it: itWithPromtool } = needs(
  spawnSync(PUSH_TEST_PROMTOOL, ["--version"]).status === 0,
  "promtool on the PATH (Debian: apt-get install prometheus)",
);

it("names metrics, results and codes that the package has", () => {
  const stats: QueueStats = {
    waiting: 0,
    active: 0,
    delayed: 0,
    deadLetters: 0,
    oldestWaitingMs: 0,
    workers: 0,
  };
  const metrics = collectMetrics()(stats);
  const used = rules.match(/push_webhooks_\w+/g) ?? [];
  for (const name of used) expect(metrics).toContain(`# TYPE ${name} `);
  const readLabels = (label: string) =>
    Array.from(rules.matchAll(new RegExp(`${label}=~?"([^"]+)"`, "g")), ([, text = ""]) => text);
  for (const text of readLabels("what")) {
    for (const what of text.split("|")) expect(DIAGNOSTIC_NAMES).toContain(what);
  }
  for (const text of readLabels("code")) {
    const codes = Object.keys(STATUS_BY_CODE).filter((code) => new RegExp(`^${text}$`).test(code));
    expect(codes).not.toEqual([]);
  }
});

/** Series of one sample a minute, in the notation of promtool: start, step, count. */
const rising = "0+6x3000";
const flat = "5x3000";
const total = (what: string, code = "") =>
  `push_webhooks_total{what="${what}",code="${code}",type=""}`;

/** Of each alert: series for which it fires, and series for which it does not. */
const CASES: Record<string, [fires: Record<string, string>, is_silent: Record<string, string>]> = {
  PushDeadLetters: [
    { push_webhooks_queue_dead_letters: "1x3000" },
    { push_webhooks_queue_dead_letters: "0x3000" },
  ],
  PushHandlersFail: [
    { [total("failed")]: rising, [total("handled")]: rising },
    { [total("failed")]: flat, [total("handled")]: rising },
  ],
  PushSignaturesWrong: [
    { [total("rejected", "SIGNATURE_MISMATCH")]: rising },
    { [total("rejected", "SIGNATURE_MISMATCH")]: rising, [total("handled")]: rising },
  ],
  PushUnavailable: [
    { [total("rejected", "STORE_UNAVAILABLE")]: rising },
    { [total("rejected", "SIGNATURE_MISSING")]: rising },
  ],
  PushStoreSlow: [{ [total("retrying")]: rising }, { [total("retrying")]: flat }],
  PushQueueBehind: [
    { push_webhooks_queue_oldest_waiting_seconds: "90x3000" },
    { push_webhooks_queue_oldest_waiting_seconds: "20x3000" },
  ],
  PushNoWorker: [
    { push_webhooks_queue_workers: "0x3000" },
    { push_webhooks_queue_workers: "2x3000" },
  ],
  // The counter rises for a day, and then no more.
  PushSilent: [{ [total("received")]: "0+6x1440 8640x1560" }, { [total("received")]: rising }],
};

it("has a case for each alert", () => {
  const names = Array.from(rules.matchAll(/alert: (\w+)/g), ([, name]) => name);
  expect(Object.keys(CASES)).toEqual(names);
});

itWithPromtool("fires each alert in Prometheus only when it should", () => {
  const tests = Object.entries(CASES).flatMap(([alertname, cases]) =>
    cases.map((series, index) => ({
      interval: "1m",
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: [
        {
          // After a day only where an alert looks back so far.
          eval_time: alertname === "PushSilent" ? "26h" : "2h",
          alertname,
          exp_alerts:
            index === 0 ? [{ exp_labels: {}, exp_annotations: readSummary(alertname) }] : [],
        },
      ],
    })),
  );
  // JSON is YAML.
  const file = join(folder, "test.yaml");
  writeFileSync(
    file,
    JSON.stringify({ rule_files: [join(ROOT, FILE)], evaluation_interval: "1m", tests }),
  );
  const { stdout, stderr, status } = spawnSync(PUSH_TEST_PROMTOOL, ["test", "rules", file], {
    encoding: "utf8",
  });
  expect({ status, said: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, said: "" });
});

function readSummary(alertname: string): { summary: string } {
  const [, rule = ""] = rules.split(`alert: ${alertname}`);
  return { summary: (/summary: (.*)/.exec(rule)?.[1] ?? "").trim() };
}
