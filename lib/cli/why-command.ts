import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { Command } from "commander";
import { UsageError } from "./arguments";
import { print, type Terminal } from "./terminal";

/** The folder of the pages in the package, and in the repository. */
const FOLDER = join(__dirname, "..", "..", "docs");

/** The pages that have codes: the first one that has a code explains it. */
const PAGES = ["errors.md", "troubleshooting.md", "signatures.md", "admin.md"];

/** Adds `why`, which prints what the documentation says about a code, or its index of questions. */
export function addWhyCommand(program: Command, terminal: Terminal): void {
  program
    .addHelpText(
      "after",
      "\nQuestions and symptoms: push-webhooks why. An error code: push-webhooks why CODE.",
    )
    .command("why")
    .description("print what to do about an error code; without one, an index of questions")
    .argument("[code]", "code of an error, a process warning or a cause, such as URL_SCHEME")
    .action((code: string | undefined) => {
      const text = code === undefined ? renderPage("questions.md") : explainCode(code);
      if (text === undefined) {
        throw new UsageError(
          `no page has the code ${JSON.stringify(code)}. Without a code, why prints an index of questions.`,
        );
      }
      print(terminal, text);
    });
}

/**
 * Returns the section, the list items or the table rows of a code in the documentation, as text for a
 * terminal; undefined for an unknown code.
 */
export function explainCode(code: string): string | undefined {
  const name = `\`${code.toUpperCase()}\``;
  for (const page of PAGES) {
    const text = readPage(page);
    const found = findSection(text, `### ${name}`) ?? findLines(text, name);
    if (found !== undefined) return `${renderText(found, page)}\n\nFrom ${join(FOLDER, page)}`;
  }
  return undefined;
}

function readPage(page: string): string {
  return readFileSync(join(FOLDER, page), "utf8").replaceAll("\r\n", "\n");
}

function findSection(text: string, heading: string): string | undefined {
  const [, section] = text.split(`\n${heading}\n`);
  return section && `${heading.slice(4)}\n${section.split(/^#/m)[0]}`.trim();
}

/** Finds the items and the rows whose beginning, up to their text, has the code. */
function findLines(text: string, name: string): string | undefined {
  const found: string[] = [];
  let header: string[] = [];
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    const cells = line.split(" | ").map((cell) => cell.replaceAll(/^\||\|$/g, "").trim());
    if (lines[index + 1]?.startsWith("| -")) header = cells;
    const isRow = line.startsWith("| ") && cells[0]?.includes(name) === true;
    if (isRow) found.push(cells.map((cell, at) => `${header[at]}: ${cell}`).join("\n"));
    else if (line.startsWith("- ") && line.split(": ")[0]?.includes(name))
      found.push(line.slice(2));
  }
  return found.length === 0 ? undefined : found.join("\n\n");
}

function renderPage(page: string): string {
  return renderText(readPage(page), page);
}

/** Writes a link as its text and its page, and drops the marks of bold text. */
function renderText(text: string, page: string): string {
  return text
    .replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, (_link, words: string, target: string) => {
      const isWeb = /^https?:/.test(target);
      const place = isWeb ? target : posix.join("docs", target.replace(/^(?=#)/, page));
      return `${words} (${place})`;
    })
    .replaceAll("**", "")
    .trim();
}
