import { execFileSync } from "node:child_process";
import { posix } from "node:path";
import { readText, ROOT } from "../support/docs";
import { npm } from "../support/npm";

/** Finds relative links and examples of the documents that the tarball does not have. */
export function checkLinks(): string[] {
  const command = npm("pack", "--dry-run", "--json", "--ignore-scripts");
  const packing = execFileSync(...command, { cwd: ROOT, stdio: ["ignore", "pipe", "ignore"] });
  const [{ files }] = JSON.parse(packing.toString()) as [{ files: { path: string }[] }];
  const packed = new Set(files.map(({ path }) => path));
  const pages = [...packed].filter((file) => file.endsWith(".md"));
  return pages.flatMap((file) => {
    const links = [...readProse(file).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)];
    const dead = links.filter(([, path = "", anchor]) => {
      const target = path === "" ? file : posix.join(posix.dirname(file), path);
      return !packed.has(target) || (anchor !== undefined && !listAnchors(target).has(anchor));
    });
    const examples = readText(file).match(/\bexamples\/[\w/-]+\.ts\b/g) ?? [];
    const missing = [...dead.map(([link]) => link), ...examples.filter((one) => !packed.has(one))];
    return missing.map((link) => `${file}: ${link} is not in the tarball`);
  });
}

/** The text of a document without its code. */
function readProse(file: string): string {
  return readText(file)
    .replaceAll(/^```[^]*?^```$/gm, "")
    .replaceAll(/`[^`\n]*`/g, "code");
}

/** The anchor that a Markdown renderer gives a heading. */
export function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
}

/** The anchors of a document: those that a Markdown renderer gives its headings, and its own. */
function listAnchors(file: string): Set<string> {
  const text = readText(file).replaceAll(/^```[^]*?^```$/gm, "");
  const anchors = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id));
  for (const [, heading = ""] of text.matchAll(/^#+ (.*)$/gm)) {
    const anchor = toAnchor(heading);
    // A heading that occurs again gets a number.
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}
