import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readText, ROOT } from "../support/docs";

/** An object, without one in it. */
const OBJECT = /\{[^{}]*\}/g;
/** An option whose name ends with a unit, and its value: a number or a name. */
const OPTION = /\b(\w+?(Ms|Bytes|Seconds)): (\w+)(?![\w.(?[])/g;

/** Finds options of one unit that a test sets to one value: it would not see them swapped. */
export function checkEqualValues(): string[] {
  const files = readdirSync(join(ROOT, "__tests__"), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const equal = listObjects(readText(join("__tests__", file))).flatMap(listEqual);
      return equal.map((names) => `__tests__/${file}: give ${names} values that differ`);
    });
}

/** Lists the objects of a text, each without those in it. */
function listObjects(text: string): string[] {
  const found = text.match(OBJECT) ?? [];
  return found.length === 0 ? [] : [...found, ...listObjects(text.replaceAll(OBJECT, ""))];
}

function listEqual(object: string): string[] {
  const names = new Map<string, string>();
  return Array.from(object.matchAll(OPTION)).flatMap(([, name = "", unit, value = ""]) => {
    const key = `${unit} ${value.replaceAll("_", "")}`;
    const other = names.get(key) ?? name;
    names.set(key, other);
    return other === name || /^(number|string)$/.test(value) ? [] : [`${other} and ${name}`];
  });
}
