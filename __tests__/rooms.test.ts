import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

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

/** The folders of the core: a folder imports only from itself and the folders before it. */
const CORE = [
  "errors",
  "form",
  "validation",
  "signature",
  "event",
  "observability",
  "challenge",
  "delivery",
  "memory",
  "receiver",
];
/** Folders with a subpath export or a bin; each imports the core and no other side room. */
const SIDE_ROOMS = ["durable", "admin", "emulator", "testing", "cli"];

/** The only files that may import each package. */
const HOMES: Record<string, RegExp> = {
  "body-parser": /^(receiver\/body|admin\/router\/json-body)\.ts$/,
  "node:crypto": /^(signature\/signature|emulator\/resources\/sids)\.ts$/,
  express: /^admin\/(router\/(router|routes|options|json-body)|console\/console-routes)\.ts$/,
  zod: /^(event\/(schema|parse)|(admin|emulator)\/[\w/-]+|durable\/stored-event)\.ts$/,
  bullmq: /^durable\/redis\/[\w-]+\.ts$/,
  ioredis: /^durable\/redis\/[\w-]+\.ts$/,
  pg: /^durable\/postgres\/[\w-]+\.ts$/,
  "graphile-worker": /^durable\/postgres\/[\w-]+\.ts$/,
  commander: /^cli\/[\w-]+\.ts$/,
};

const roomOf = (file: string) => (file.includes("/") ? file.split("/", 1)[0]! : "index");

function assertMayImport(file: string, target: string): void {
  const imported = posix.join(posix.dirname(file), target);
  const [from, to] = [roomOf(file), roomOf(imported)];
  expect(imported).not.toMatch(/(^|\/)index$/);
  if (from === to || from === "index") return;
  // The CLI uses the other side rooms through their subpath exports, as an app does.
  if (from === "cli" && SIDE_ROOMS.includes(imported)) return;
  const allowed = SIDE_ROOMS.includes(from) ? CORE : CORE.slice(0, CORE.indexOf(from));
  expect({ file, imported: allowed.includes(to) ? to : imported }).toEqual({ file, imported: to });
}

describe("rooms", () => {
  it("are the folders listed here, and no others", () => {
    expect(readdirSync(lib).toSorted()).toEqual(["index.ts", ...CORE, ...SIDE_ROOMS].toSorted());
  });

  it.each(files)("%s imports only what it may", (file) => {
    for (const target of importsOf(file)) {
      if (target.endsWith("/package.json")) continue;
      if (target.startsWith(".")) assertMayImport(file, target);
      else if (HOMES[target] === undefined) expect(target).toMatch(/^node:/);
      else expect(file).toMatch(HOMES[target]);
    }
  });

  it("have only re-exports in index.ts", () => {
    for (const file of files.filter((name) => name.endsWith("index.ts"))) {
      const text = readFileSync(join(lib, file), "utf8").replaceAll(/\/\*\*[^]*?\*\//g, "");
      expect(text.replaceAll(/export (type )?\{[^}]*\} from "[^"]+";/g, "").trim()).toBe("");
    }
  });

  it("declare each function and each type under a name of its own", () => {
    const homes = new Map<string, Set<string>>();
    // This one loads the others: its functions are theirs.
    for (const file of files.filter((name) => name !== "signature/explain.ts")) {
      const declared = /^(?:export )?(?:async )?(?:function|interface|type|class) (\w+)/gm;
      for (const [, name = ""] of readFileSync(join(lib, file), "utf8").matchAll(declared)) {
        homes.set(name, (homes.get(name) ?? new Set()).add(file));
      }
    }
    expect([...homes].filter(([, where]) => where.size > 1)).toEqual([]);
  });

  it("have files of at most 220 lines", () => {
    for (const file of files) {
      const lines = readFileSync(join(lib, file), "utf8").split("\n").length;
      expect({ file, isSmall: lines <= 220 }).toEqual({ file, isSmall: true });
    }
  });

  it("have a test for each core file that exports a function, a class or a constant", () => {
    const untested = files.filter(
      (file) =>
        CORE.includes(roomOf(file)) &&
        /^export (async )?(function|const|class)/m.test(readFileSync(join(lib, file), "utf8")) &&
        !existsSync(join(__dirname, file.replace(".ts", ".test.ts"))),
    );
    expect(untested).toEqual([]);
  });
});
