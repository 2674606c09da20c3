import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { pushWebhooks, type WebhookErrorCode } from "express-push-verification";
import { InputError } from "express-push-verification/admin";
import { FAILURE_MESSAGES } from "../../lib/admin/client/api-error";
import { ERRORS } from "../../lib/emulator/emulator-error";
import { CAUSES } from "../../lib/signature/explain/causes";
import { STATUS_BY_CODE } from "../../lib/errors/codes";
import { TRACE_NAMES } from "../../lib/observability/diagnostics";
import { DOCUMENTS, readSection, readText, ROOT } from "../support/docs";

const UNKNOWN = { "?": 1 } as never;

/** Lists the codes of a union type: its lines `| "CODE"`. */
const listCodes = (file: string) => matchAll(readText(file), /^  \| "([A-Z_]+)"/gm).flat();

/** Finds tables, headings and names of files in the documents that do not agree with the code. */
export function checkDocuments(): string[] {
  const findings: string[] = [];
  const compare = (place: string, written: unknown, real: unknown) => {
    if (isDeepStrictEqual(written, real)) return;
    findings.push(`${place}: has ${JSON.stringify(written)}, the code ${JSON.stringify(real)}`);
  };

  const rows = matchAll(
    readSection("docs/options.md", "## Every option"),
    /^- .+:(( `\w+`,?)+)$/gm,
  );
  const names = rows.flatMap(([cell = ""]) => cell.match(/\w+/g) ?? []);
  compare(
    "docs/options.md",
    names.toSorted(),
    listOptions(() => pushWebhooks(UNKNOWN)),
  );

  const headings = matchAll(readText("docs/errors.md"), /^### `([A-Z_]+)`$/gm).flat();
  const codes = [
    ...Object.keys(STATUS_BY_CODE),
    ...Object.keys(FAILURE_MESSAGES),
    "SERVICE_ERROR",
    new InputError("", []).code,
  ];
  compare("docs/errors.md, sections", headings.toSorted(), codes.toSorted());
  const durableRows = readSection("docs/errors.md", "## Codes of durable mode");
  const queueCodes = matchAll(durableRows, /`((?:REDIS|POSTGRES|FILE)_[A-Z_]+)`/g).flat();
  const realCodes = listCodes("lib/durable/queue-error.ts");
  compare("docs/errors.md, QueueError", queueCodes.toSorted(), realCodes.toSorted());
  for (const code of headings.filter((heading) => heading in STATUS_BY_CODE)) {
    const text = readSection("docs/errors.md", `### \`${code}\``);
    for (const part of [`**${STATUS_BY_CODE[code as WebhookErrorCode]}.** `, "**Fix.** "])
      if (!text.includes(part)) findings.push(`docs/errors.md, ${code}: has no ${part}`);
  }
  const emulatorRows = readSection("docs/errors.md", "## Codes of `EmulatorError`");
  const emulatorErrors = matchAll(emulatorRows, /^- `([A-Z_]+)` \((\d{5}), (\d{3})\)/gm).map(
    ([name, code, status]) => [name, { serviceCode: Number(code), status: Number(status) }],
  );
  compare("docs/errors.md, EmulatorError", Object.fromEntries(emulatorErrors), ERRORS);

  const causes = matchAll(
    readSection("docs/signatures.md", "### Causes"),
    /`((?:SIGNATURE|URL|TOKEN|PARAMS|BODY|OTHER)_\w+)`/g,
  ).flat();
  compare("docs/signatures.md, causes", causes.toSorted(), Object.keys(CAUSES).toSorted());
  const traceRows = readSection("docs/observability.md", "## Tracing channels");
  const traces = matchAll(traceRows, /^- `([a-z-]+)`/gm).flat();
  compare("docs/observability.md, tracing channels", traces, TRACE_NAMES);

  const routes = matchAll(readText("lib/admin/console/console.ts"), /"\/console(\/[\w/:-]+)"/g);
  const routeText = readSection("docs/admin.md", "### Routes of the console");
  const unnamed = routes.flat().filter((route) => !routeText.includes(`\`${route}\``));
  findings.push(...unnamed.map((route) => `docs/admin.md: does not name the route ${route}`));

  for (const file of DOCUMENTS) {
    if (file !== "README.md" && !readText("README.md").includes(`(${file})`))
      findings.push(`README.md: does not link to ${file}`);
  }
  const pages = ["SECURITY.md", "docs/architecture.md", "docs/durable-engine.md"].map(readText);
  const named = matchAll(
    pages.join("\n"),
    /`([\w-]+\/[\w/-]+(?:\.test)?\.ts|[\w-]+\.test\.ts)`/g,
  ).flat();
  const missing = named.filter(
    (file) => ![file, `__tests__/${file}`].some((path) => existsSync(join(ROOT, path))),
  );
  return [...findings, ...missing.map((file) => `a document names ${file}, which does not exist`)];
}

/** Returns the groups of each match. */
function matchAll(text: string, pattern: RegExp): string[][] {
  return Array.from(text.matchAll(pattern), ([, ...groups]) => groups);
}

/** The options that the rejection of an unknown one names. */
function listOptions(create: () => unknown): string[] {
  try {
    create();
  } catch (error) {
    const [, names = ""] = (error as Error).message.split("The options are: ");
    return names.replace(".", "").split(", ").toSorted();
  }
  return [];
}
