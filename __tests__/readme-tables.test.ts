/** The tables of the documents agree with the code, and SECURITY.md with the tests. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pushWebhooks } from "express-push-verification";
import { createAdminClient } from "express-push-verification/admin";
import { durableQueue } from "express-push-verification/durable";
import { createEmulator } from "express-push-verification/emulator";
import { STATUS_BY_CODE } from "../lib/errors";
import { DOCUMENTS, readSection, readText } from "./support/docs";

describe("tables of options", () => {
  it.each([
    ["README.md", "## Options", () => pushWebhooks({ "?": 1 } as never)],
    ["README.md", "## Durable mode", () => durableQueue({ "?": 1 } as never)],
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

describe("the table of responses", () => {
  it("lists every code with its status", () => {
    const rows = [
      ...readSection("README.md", "## Responses").matchAll(/\| `([A-Z_]+)` +\| (\d{3})/g),
    ];
    const documented = rows.map(([, code = "", status]) => [code, Number(status)]);
    expect(Object.fromEntries(documented)).toEqual(STATUS_BY_CODE);
  });
});

describe("references", () => {
  const root = join(__dirname, "..");

  it("SECURITY.md names test files that exist", () => {
    const names = [...readText("SECURITY.md").matchAll(/`([\w/-]+\.test\.ts)`/g)];
    expect(names.length).toBeGreaterThan(20);
    const missing = names.filter(([, name = ""]) => !existsSync(join(__dirname, name)));
    expect(missing.map(([, name]) => name)).toEqual([]);
  });

  it.each([...DOCUMENTS, "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md"])(
    "%s links to files and headings that exist",
    (file) => {
      const links = [...readText(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
      for (const [link, path = "", anchor] of links) {
        const target = path === "" ? file : join(file, "..", path);
        expect({ link, exists: existsSync(join(root, target)) }).toEqual({ link, exists: true });
        if (anchor !== undefined) expect(listAnchors(target)).toContain(anchor);
      }
    },
  );

  it.each([...DOCUMENTS, "SECURITY.md", "CHANGELOG.md"])("%s has no riddles", (file) => {
    const riddles = /\b(whoever|whatever|nobody|somebody|strangers?)\b/gi;
    expect(readText(file).match(riddles) ?? []).toEqual([]);
  });
});

/** The anchors that a Markdown renderer gives the headings of a document. */
function listAnchors(file: string): string[] {
  const headings = [...readText(file).matchAll(/^#+ (.*)$/gm)];
  return headings.map(([, text = ""]) =>
    text
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
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
