import type { Command } from "commander";
import type { RehearsalReport, RehearsalRow } from "../admin";
import { parseJson } from "../kit/text";
import { assertUrl, parseHeader, UsageError } from "./arguments";
import { readVariable } from "./environment";
import { print, printJson, printPainted, type Terminal } from "./terminal";

interface RehearseOptions {
  adminUrl: string;
  json?: boolean;
}

/** Longer than a rehearsal takes: its requests to the service, and 25 s for the login. */
const TIMEOUT_MS = 120_000;

const COLOURS = { ok: "green", failed: "red", skipped: "dim" } as const;

/** Adds `rehearse`, which rehearses a login in an app, by its admin router. */
export function addRehearseCommand(program: Command, terminal: Terminal): void {
  program
    .command("rehearse")
    .description(
      "rehearse a login in a running app: a virtual phone approves it at the service; costs one factor and one challenge",
    )
    .requiredOption("--admin-url <url>", "URL of the app's admin router, which has a receiver")
    .option("--json", "print one JSON document")
    .addHelpText(
      "after",
      '\nThe environment variable PUSH_ADMIN_HEADER is a header that lets the request pass, such as "Authorization: Bearer …".',
    )
    .action(async ({ adminUrl, json }: RehearseOptions) => {
      assertUrl("--admin-url", adminUrl);
      const report = await requestRehearsal(terminal, adminUrl);
      if (!report.isOk) terminal.hasFailed = true;
      if (json === true) return printJson(terminal, report);
      for (const row of report.rows) printRow(terminal, row);
      print(terminal, `The user of this rehearsal was ${report.identity}.`);
    });
}

async function requestRehearsal(terminal: Terminal, adminUrl: string): Promise<RehearsalReport> {
  const response = await fetch(`${adminUrl.replace(/\/+$/, "")}/rehearsal`, {
    method: "POST",
    headers: readHeader(readVariable(terminal, "PUSH_ADMIN_HEADER")),
    redirect: "manual",
    signal: AbortSignal.any([terminal.signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  const body: unknown = parseJson(await response.text());
  const { rows, code, message } = Object(body) as Partial<RehearsalReport> &
    Partial<Record<"code" | "message", unknown>>;
  if (response.ok && Array.isArray(rows)) return body as RehearsalReport;
  const problem =
    typeof message === "string"
      ? `${String(code)}: ${message}`
      : "No admin router is mounted there, or its option receiver is not set.";
  throw new Error(`The app responded ${response.status}. ${problem}`);
}

function readHeader(line: string): Record<string, string> {
  if (line === "") return {};
  const header = parseHeader(line);
  if (header !== undefined) return Object.fromEntries([header]);
  throw new UsageError('PUSH_ADMIN_HEADER must be "Name: value"; its value is not shown.');
}

function printRow(
  terminal: Terminal,
  { link, result, durationMs, reason, fix }: RehearsalRow,
): void {
  const time = durationMs === undefined ? "" : `${durationMs} ms`;
  const texts = result === "ok" ? [reason] : [reason, fix];
  const lines = texts.flatMap((text) => (text === undefined ? [] : [`\n  ${text}`])).join("");
  const cells = ` ${link.padEnd(12)} ${time}`.trimEnd();
  printPainted(terminal, COLOURS[result], result.padEnd(7), `${cells}${lines}`);
}
