import { existsSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { DOCUMENTS, readText, ROOT } from "../support/docs";

const PAGES = [
  ...DOCUMENTS,
  ...readdirSync(join(ROOT, "docs", "api")).map((file) => `docs/api/${file}`),
  "SECURITY.md",
  "examples/push-login/README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
];

/** Finds relative links of the documents to a file or a heading that does not exist. */
export function checkLinks(): string[] {
  return PAGES.flatMap((file) => {
    const links = [...readProse(file).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)];
    const dead = links.filter(([, path = "", anchor]) => {
      const target = path === "" ? file : posix.join(posix.dirname(file), path);
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !listAnchors(target).has(anchor);
    });
    return dead.map(([link]) => `${file}: the link ${link} is dead`);
  });
}

/** The text of a document without its code. */
function readProse(file: string): string {
  return readText(file)
    .replaceAll(/^```[^]*?^```$/gm, "")
    .replaceAll(/`[^`\n]*`/g, "code");
}

const anchorsByFile = new Map<string, Set<string>>();

/** The anchors of a document: those that a Markdown renderer gives its headings, and its own. */
function listAnchors(file: string): Set<string> {
  const known = anchorsByFile.get(file);
  if (known !== undefined) return known;
  const text = readText(file).replaceAll(/^```[^]*?^```$/gm, "");
  const anchors = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id));
  for (const [, heading = ""] of text.matchAll(/^#+ (.*)$/gm)) {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-");
    // A heading that occurs again gets a number.
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  anchorsByFile.set(file, anchors);
  return anchors;
}
