/** The tables and headings of the documents agree with the code, and SECURITY.md with the tests. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pushWebhooks } from "express-push-verification";
import { createAdminClient, InputError, type ApiErrorCode } from "express-push-verification/admin";
import { postgresQueue, redisQueue, type QueueErrorCode } from "express-push-verification/durable";
import { createEmulator } from "express-push-verification/emulator";
import { resolveSqliteOptions } from "../lib/durable/sqlite/options";
import { ERRORS } from "../lib/emulator/emulator-error";
import { CAUSES } from "../lib/errors/signature-causes";
import { STATUS_BY_CODE } from "../lib/errors/webhook-error";
import { DIAGNOSTIC_NAMES } from "../lib/observability/diagnostics";
import { DOCUMENTS, readSection, readText, ROOT } from "./support/docs";

describe("tables of options", () => {
  it.each([
    ["docs/options.md", "## Every option", () => pushWebhooks({ "?": 1 } as never)],
    ["docs/durable.md", "## Options of `redisQueue`", () => redisQueue({ "?": 1 } as never)],
    // Not sqliteQueue itself: it rejects a Node.js without node:sqlite first.
    [
      "docs/durable.md",
      "## Options of `sqliteQueue`",
      () => resolveSqliteOptions({ "?": 1 } as never),
    ],
    ["docs/durable.md", "## Options of `postgresQueue`", () => postgresQueue({ "?": 1 } as never)],
    ["docs/emulator.md", "## Options", () => createEmulator({ "?": 1 } as never)],
    [
      "docs/admin.md",
      "## Options of `createAdminClient`",
      () => createAdminClient({ "?": 1 } as never),
    ],
  ])("%s, %s lists every option", (file, heading, create) => {
    const rows = [...readSection(file, heading).matchAll(/^\|((?: `\w+`,?)+) +\|/gm)];
    const documented = rows.flatMap(([, names = ""]) => names.match(/\w+/g) ?? []);
    expect(documented.toSorted()).toEqual(listOptions(create));
  });
});

describe("docs/errors.md", () => {
  const headings = [...readText("docs/errors.md").matchAll(/^### `([A-Z_]+)`$/gm)];
  const documented = headings.map(([, code]) => code);

  it("lists every code of WebhookError with its status", () => {
    const section = readSection("docs/errors.md", "## Every code with its status");
    const rows = [...section.matchAll(/^\| \[`([A-Z_]+)`\]\(#[a-z_]+\) +\| (\d{3})/gm)];
    const statuses = rows.map(([, code = "", status]) => [code, Number(status)]);
    expect(Object.fromEntries(statuses)).toEqual(STATUS_BY_CODE);
  });

  it("has one section for each code of an error: meaning, cause, fix", () => {
    const codes = [
      ...Object.keys(STATUS_BY_CODE),
      ...API_ERROR_CODES,
      new InputError("", []).code,
      ...QUEUE_ERROR_CODES,
    ];
    expect(documented.toSorted()).toEqual(codes.toSorted());
    for (const code of Object.keys(STATUS_BY_CODE)) {
      const text = readSection("docs/errors.md", `### \`${code}\``);
      for (const part of ["**Meaning.** ", "**Cause.** ", "**Fix.** "])
        expect(text).toContain(part);
    }
  });

  it("lists every code of EmulatorError with its numbers", () => {
    const section = readSection("docs/errors.md", "### Codes of `EmulatorError`");
    const rows = [...section.matchAll(/^\| `([A-Z_]+)` +\| (\d{5}) +\| (\d{3})/gm)];
    const listed = rows.map(([, name = "", serviceCode, status]) => [
      name,
      { serviceCode: Number(serviceCode), status: Number(status) },
    ]);
    expect(Object.fromEntries(listed)).toEqual(ERRORS);
  });
});

describe("docs/signatures.md", () => {
  it("lists every cause of a signature that does not match", () => {
    const section = readSection("docs/signatures.md", "### Causes");
    const listed = [...section.matchAll(/^\| `([A-Z0-9_]+)`/gm)].map(([, code]) => code);
    expect(listed).toEqual(Object.keys(CAUSES));
  });
});

describe("docs/observability.md", () => {
  it("lists every diagnostics channel", () => {
    const section = readSection("docs/observability.md", "## Diagnostics channels");
    const listed = [...section.matchAll(/^\| `([a-z-]+)`/gm)].map(([, name]) => name);
    expect(listed).toEqual(DIAGNOSTIC_NAMES);
  });
});

describe("README.md", () => {
  it("has 200 lines at most", () => {
    expect(readText("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(200);
  });

  it("names every page of docs", () => {
    const unnamed = DOCUMENTS.filter(
      (file) => file !== "README.md" && !readText("README.md").includes(`(${file})`),
    );
    expect(unnamed).toEqual([]);
  });
});

describe("references to files", () => {
  it("SECURITY.md names test files that exist", () => {
    const names = [...readText("SECURITY.md").matchAll(/`([\w/-]+\.test\.ts)`/g)];
    expect(names.length).toBeGreaterThan(20);
    const missing = names.filter(([, name = ""]) => !existsSync(join(__dirname, name)));
    expect(missing.map(([, name]) => name)).toEqual([]);
  });

  it("docs/architecture.md names files that exist", () => {
    const text = readText("docs/architecture.md");
    const files = [...text.matchAll(/`(lib\/[\w/-]+\.ts)`/g)].map(([, file = ""]) => file);
    const tests = [...text.matchAll(/`([\w-]+\.test\.ts)`/g)].map(
      ([, name]) => `__tests__/${name}`,
    );
    expect(files.length).toBeGreaterThan(20);
    expect([...files, ...tests].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it.each([...DOCUMENTS, "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md"])(
    "%s has no riddles",
    (file) => {
      const riddles = /\b(whoever|whatever|nobody|somebody|strangers?|what of)\b/gi;
      expect(readText(file).match(riddles) ?? []).toEqual([]);
    },
  );
});

/** The codes of ApiError: a key that is missing or too much does not compile. */
const API_ERROR_CODES = Object.keys({
  SERVICE_ERROR: true,
  UNREACHABLE: true,
  TIMEOUT: true,
  BAD_RESPONSE: true,
  REDIRECTED: true,
  FOREIGN_PAGE: true,
  OWN_KEY: true,
} satisfies Record<ApiErrorCode, true>);

/** The codes of QueueError: a key that is missing or too much does not compile. */
const QUEUE_ERROR_CODES = Object.keys({
  REDIS_NOT_DURABLE: true,
  REDIS_REJECTED: true,
  POSTGRES_NOT_DURABLE: true,
  POSTGRES_REJECTED: true,
  POSTGRES_POOLED: true,
  POSTGRES_OLD: true,
  POSTGRES_NEWER: true,
  FILE_FOREIGN: true,
  FILE_DAMAGED: true,
  FILE_NEWER: true,
  FILE_IN_USE: true,
} satisfies Record<QueueErrorCode, true>);

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
