import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readText, ROOT } from "../support/docs";

/** The title of a test, before its function. */
const TITLE = /(?:\bit\w*|\))\(\s*(["`])((?:(?!\1)[^])+)\1,\s*(?:async )?(?:function )?\(/g;
/** What joins two facts. */
const JOINED = /, (?:and|but) |; /;

/** Finds tests whose title says two facts: a red one does not say which of them broke. */
export function checkTitles(): string[] {
  const files = readdirSync(join(ROOT, "__tests__"), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) =>
      Array.from(readText(join("__tests__", file)).matchAll(TITLE), ([, , title = ""]) => title)
        .filter((title) => JOINED.test(title))
        .map((title) => `__tests__/${file}: two facts in "${title}"`),
    );
}
