import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const lib = join(__dirname, "..", "lib");
const files = readdirSync(lib, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replaceAll("\\", "/"));
const importsOf = (file: string) =>
  [
    ...readFileSync(join(lib, file), "utf8").matchAll(
      /(?:from |import |import\(|require\()"([^"\n]+)"/g,
    ),
  ].map(([, target = ""]) => target);

/** Where each package may be imported; one home each. */
const HOMES: Record<string, RegExp> = {
  "body-parser": /^(body|admin\/json-body)\.ts$/,
  "node:crypto": /^(signature|emulator\/sids)\.ts$/,
  express: /^admin\/(router|routes|json-body)\.ts$/,
  zod: /^(event-schema|payload|(admin|emulator)\/\w+|durable\/stored-event)\.ts$/,
  bullmq: /^durable\/[\w-]+\.ts$/,
  ioredis: /^durable\/[\w-]+\.ts$/,
  commander: /^cli\/[\w-]+\.ts$/,
};

describe("rooms", () => {
  it.each(files)("%s imports what it may", (file) => {
    for (const target of importsOf(file)) {
      const isRelative = target.startsWith(".");
      if (isRelative) {
        // Only the terminal's program goes through the other rooms' doors.
        if (/^\.\.\/(admin|emulator|testing)$/.test(target)) expect(file).toMatch(/^cli\//);
        else expect(target).not.toMatch(/^\.\.?\/?$|\/index$/);
        // The root never imports a side room: those cost nothing until they are asked for.
        if (!file.includes("/")) expect(target.split("/")).toHaveLength(2);
      } else if (HOMES[target] !== undefined) {
        expect(file).toMatch(HOMES[target]);
      } else {
        expect(target).toMatch(/^node:/);
      }
    }
  });

  it("has nothing but re-exports in its doors", () => {
    for (const file of files.filter((name) => name.endsWith("index.ts"))) {
      const text = readFileSync(join(lib, file), "utf8").replaceAll(/\/\*\*[^]*?\*\//g, "");
      expect(text.replaceAll(/export (type )?\{[^}]*\} from "[^"]+";/g, "").trim()).toBe("");
    }
  });

  it("keeps its files small", () => {
    for (const file of files) {
      const lines = readFileSync(join(lib, file), "utf8").split("\n").length;
      expect({ file, isSmall: lines <= 240 }).toEqual({ file, isSmall: true });
    }
  });

  it("has a test for each file that does something", () => {
    const tests = new Set(readdirSync(__dirname));
    const untested = files.filter(
      (file) =>
        !file.includes("/") &&
        /^export (async )?(function|const|class)/m.test(readFileSync(join(lib, file), "utf8")) &&
        !tests.has(file.replace(".ts", ".test.ts")),
    );
    expect(untested).toEqual([]);
  });
});
