import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { pushWebhooks } from "express-push-verification";
import { InputError } from "express-push-verification/admin";
import { FAILURE_MESSAGES } from "../../lib/admin/client/api-error";
import { ERRORS } from "../../lib/emulator/emulator-error";
import { CAUSES } from "../../lib/core/errors/signature-causes";
import { STATUS_BY_CODE } from "../../lib/core/errors/codes";
import { TRACE_NAMES } from "../../lib/core/observability/diagnostics";
import { explainCode } from "../../lib/cli/why-command";
import { toAnchor } from "./links";
import { DOCUMENTS, readSection, readText, ROOT } from "../support/docs";

/** Lists of the documents, in any order, and what the code has. */
const LISTS: [file: string, heading: string, pattern: RegExp, real: readonly string[]][] = [
  ["docs/options.md", "## Every option", /^\| `(\w+)` +\|/gm, listOptions()],
  [
    "docs/errors.md",
    "",
    /^### `([A-Z_]+)`$/gm,
    [...Object.keys(STATUS_BY_CODE), ...Object.keys(FAILURE_MESSAGES)].concat(
      "SERVICE_ERROR",
      new InputError("", []).code,
    ),
  ],
  [
    "docs/errors.md",
    "## Codes of durable mode",
    /`((?:REDIS|POSTGRES|FILE)_[A-Z_]+)`/g,
    matchAll(readText("lib/durable/queue-error.ts"), /^  \| "([A-Z_]+)"/gm).flat(),
  ],
  [
    "docs/signatures.md",
    "### Causes",
    /`((?:SIGNATURE|URL|TOKEN|PARAMS|BODY|OTHER)_\w+)`/g,
    Object.keys(CAUSES),
  ],
  ["docs/observability.md", "## Tracing channels", /^- `([a-z-]+)`/gm, TRACE_NAMES],
];

/** Finds lists, headings and names of files in the documents that do not agree with the code. */
export function checkDocuments(): string[] {
  const findings: string[] = [];
  const compare = (place: string, written: unknown, real: unknown) => {
    if (isDeepStrictEqual(written, real)) return;
    findings.push(`${place}: has ${JSON.stringify(written)}, the code ${JSON.stringify(real)}`);
  };

  for (const [file, heading, pattern, real] of LISTS) {
    const text = heading === "" ? readText(file) : readSection(file, heading);
    const written = matchAll(text, pattern).flat();
    compare(`${file} ${heading}`, written.toSorted(), real.toSorted());
  }
  for (const [code, status] of Object.entries(STATUS_BY_CODE)) {
    const text = readSection("docs/errors.md", `### \`${code}\``);
    for (const part of [`**${status}.** `, "**Fix.** "])
      if (!text.includes(part)) findings.push(`docs/errors.md, ${code}: has no ${part}`);
  }
  const emulatorRows = readSection("docs/errors.md", "## Codes of `EmulatorError`");
  const emulatorErrors = matchAll(emulatorRows, /^- `([A-Z_]+)` \((\d{5}), (\d{3})\)/gm).map(
    ([name, code, status]) => [name, { serviceCode: Number(code), status: Number(status) }],
  );
  compare("docs/errors.md, EmulatorError", Object.fromEntries(emulatorErrors), ERRORS);

  const routes = matchAll(readText("lib/admin/console/console.ts"), /"\/console(\/[\w/:-]+)"/g);
  const routeText = readSection("docs/admin.md", "### Routes of the console");
  const unnamed = routes.flat().filter((route) => !routeText.includes(`\`${route}\``));
  findings.push(...unnamed.map((route) => `docs/admin.md: does not name the route ${route}`));

  for (const file of DOCUMENTS) {
    if (file !== "README.md" && !readText("README.md").includes(`(${file})`))
      findings.push(`README.md: does not link to ${file}`);
  }
  findings.push(...listMissingContents(), ...listUnexplainedCodes());
  const pages = ["SECURITY.md", "docs/architecture.md", "CONTRIBUTING.md"].map(readText);
  const named = matchAll(
    pages.join("\n"),
    /`([\w-]+\/[\w/-]+(?:\.test)?\.ts|[\w-]+\.test\.ts)`/g,
  ).flat();
  const missing = named.filter(
    (file) => ![file, `__tests__/${file}`].some((path) => existsSync(join(ROOT, path))),
  );
  return [...findings, ...missing.map((file) => `a document names ${file}, which does not exist`)];
}

const WORDS_WITHOUT_CONTENTS = 700;

/** Finds long pages without the line that links to each of their sections. */
function listMissingContents(): string[] {
  return [...DOCUMENTS, "SECURITY.md", "CONTRIBUTING.md"].flatMap((file) => {
    const text = readText(file);
    if (text.split(/\s+/).length <= WORDS_WITHOUT_CONTENTS) return [];
    const prose = text.replaceAll(/^```[^]*?^```$/gm, "");
    const headings = matchAll(prose, /^## (.*)$/gm).flat();
    const line = headings.map((heading) => `[${heading}](#${toAnchor(heading)})`).join(" · ");
    return text.includes(`\n\n${line}\n\n`) ? [] : [`${file}: has no line ${line}`];
  });
}

/** Finds codes of errors, causes and process warnings that `push-webhooks why` does not know. */
function listUnexplainedCodes(): string[] {
  const files = readdirSync(join(ROOT, "lib"), { recursive: true, encoding: "utf8" });
  const code = /\b(?:warnOnce|emitWarning)\(\s*"([A-Z_]+)"|outageCode: "([A-Z_]+)"/g;
  const sources = files.filter((file) => file.endsWith(".ts"));
  const warnings = sources.flatMap((file) => matchAll(readText(`lib/${file}`), code).flat());
  const queueErrors = matchAll(
    readText("lib/durable/queue-error.ts"),
    /^  \| "([A-Z_]+)"/gm,
  ).flat();
  const codes = [STATUS_BY_CODE, FAILURE_MESSAGES, CAUSES, ERRORS].flatMap(Object.keys);
  return [...codes, ...queueErrors, ...warnings.filter(Boolean)]
    .filter((one) => explainCode(one) === undefined)
    .map((one) => `no page explains ${one}: push-webhooks why must find it`);
}

/** Returns the groups of each match. */
function matchAll(text: string, pattern: RegExp): string[][] {
  return Array.from(text.matchAll(pattern), ([, ...groups]) => groups);
}

/** The options that the rejection of an unknown one names. */
function listOptions(): string[] {
  try {
    pushWebhooks({ "?": 1 } as never);
  } catch (error) {
    return (error as Error).message.split("The options are: ")[1]?.match(/\w+/g) ?? [];
  }
  return [];
}
