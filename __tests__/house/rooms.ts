import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { readSection } from "../support/docs";

const lib = join(__dirname, "..", "..", "lib");
const files = readdirSync(lib, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => file.replaceAll("\\", "/"));
const importsOf = (file: string) =>
  [
    ...readFileSync(join(lib, file), "utf8").matchAll(
      /(?:from |import |import\(|require\()"([^"\n]+)"/g,
    ),
  ].map(([, target = ""]) => target);

/** The list of the documentation: each room of the core imports only from those before it. */
const CORE = Array.from(
  readSection("docs/architecture.md", "## Folders").matchAll(/`errors`(?: → `\w+`)+/g),
  ([list]): string[] => list.match(/\w+/g) ?? [],
).flat();
const GUESTS = ["admin", "durable", "emulator", "otel", "testing", "cli"];
const PAGE = /^admin\/console\/page\/[\w-]+\.tsx$/;

/** The only files that may import each package. */
const HOMES: Record<string, RegExp> = {
  "body-parser": /^admin\/http\/json-body\.ts$/,
  "node:crypto":
    /^(kit\/(hash|es256-key)|core\/(signature\/(signature|hmac)|receiver\/auth-tokens)|emulator\/resources\/(auth-payload|totp))\.ts$/,
  express: /^admin\/(http\/(json-body|route)|router\/[\w-]+|console\/console)\.ts$/,
  zod: /^(admin|durable|emulator|cli)\//,
  "zod/mini": /^core\/event\/(schema|parse)\.ts$/,
  "zod/v4/core": /^core\/event\/schema\.ts$/,
  "@opentelemetry/api": /^otel\/[\w-]+\.ts$/,
  bullmq: /^durable\/redis\/[\w-]+\.ts$/,
  ioredis: /^durable\/redis\/[\w-]+\.ts$/,
  pg: /^durable\/postgres\/[\w-]+\.ts$/,
  preact: PAGE,
  "preact/hooks": PAGE,
  "@preact/signals": PAGE,
  commander: /^cli\/[\w-]+\.ts$/,
};

const folderOf = (file: string) => file.split("/", 1)[0] ?? "";
const roomOf = (file: string) => file.split("/", 2)[1] ?? "";

/** Finds folders that the documentation does not have, and imports that it does not allow. */
export function checkRooms(): string[] {
  const listed = new Set(["core", "kit", ...GUESTS]);
  const rooms = new Set([...CORE, "door.ts"]);
  return [
    ...[
      ...readdirSync(lib).filter((name) => !name.includes(".") && !listed.has(name)),
      ...readdirSync(join(lib, "core"))
        .filter((name) => !rooms.has(name))
        .map((name) => `core/${name}`),
    ].map((room) => `lib/${room}: is not listed in docs/architecture.md`),
    ...files.flatMap((file) =>
      importsOf(file)
        .filter((target) => !mayImport(file, target))
        .map((target) => `lib/${file}: may not import ${target}${adviseDoor(file, target)}`),
    ),
    ...files.filter((file) => file.endsWith("index.ts") && !isReexportsOnly(file)),
    ...checkDoor(),
    ...files
      .filter((file) => REQUEST_PATH.test(file) && registersCallback(file))
      .map((file) => `lib/${file}: register listeners and timers with Callbacks`),
  ];
}

const MAX_DOOR_NAMES = 27;

/** Finds names too many in the door: it has grown before. */
function checkDoor(): string[] {
  const code = readFileSync(join(lib, "core", "door.ts"), "utf8").replaceAll(
    /^\/\/.*|\/\*[^]*?\*\//gm,
    "",
  );
  const lists = [...code.matchAll(/\{([^}]*)\}/g)].map(([, list = ""]) => list);
  const count = lists
    .join()
    .split(",")
    .filter((name) => name.trim() !== "").length;
  return count > MAX_DOOR_NAMES ? [`lib/core/door.ts: ${count} names, over ${MAX_DOOR_NAMES}`] : [];
}

/** What a listener or a timer of these files throws may end the process. */
const REQUEST_PATH = /^(core\/receiver|admin\/(http|router|console))\/[\w-]+\.ts$/;

function registersCallback(file: string): boolean {
  const code = readFileSync(join(lib, file), "utf8").replaceAll(/^ *(\*|\/\/|\/\*).*$/gm, "");
  return /\b(?!callbacks)\w+\??\.(on|once|addListener)\("|(?<!\.)\bset(Timeout|Interval|Immediate)\(/.test(
    code,
  );
}

function adviseDoor(file: string, target: string): string {
  const isPastDoor = GUESTS.includes(folderOf(file)) && target.includes("/core/");
  return isPastDoor ? ". The door of the core is lib/core/door.ts" : "";
}

function mayImport(file: string, target: string): boolean {
  if (target.endsWith("/package.json")) return true;
  if (!target.startsWith(".")) {
    const home = HOMES[target];
    return home === undefined ? target.startsWith("node:") : home.test(file);
  }
  const imported = posix.join(posix.dirname(file), target);
  const [from, to] = [folderOf(file), folderOf(imported)];
  // Guests use the public names of the core as an app does.
  if (imported === "index") return GUESTS.includes(from);
  if (imported.endsWith("/index")) return false;
  // The console shows a queue by its public types.
  if (from === "admin" && imported === "durable") return importsTypesOnly(file, target);
  // The router serves the console: code that both need is in admin/http.
  if (file.startsWith("admin/console/") && imported.startsWith("admin/router/")) return false;
  if (from === "index.ts") return to === "core" || to === "kit";
  if (to === "kit") return true;
  if (from === "core" && to === "core") return isRoomBefore(roomOf(file), roomOf(imported));
  if (from === to) return true;
  // The CLI uses the other guests through their subpath exports, as an app does.
  if (from === "cli" && GUESTS.includes(imported)) return true;
  return GUESTS.includes(from) && imported === "core/door";
}

/** Returns whether a room of the core may import another one; the door imports from all. */
function isRoomBefore(from: string, to: string): boolean {
  return from === "door.ts" || CORE.slice(0, CORE.indexOf(from) + 1).includes(to);
}

function importsTypesOnly(file: string, target: string): boolean {
  const text = readFileSync(join(lib, file), "utf8");
  const types = text.match(new RegExp(`^import type [^;]*"${target}"`, "gm")) ?? [];
  return types.length === text.split(`"${target}"`).length - 1;
}

function isReexportsOnly(file: string): boolean {
  const text = readFileSync(join(lib, file), "utf8").replaceAll(/\/\*\*[^]*?\*\//g, "");
  return text.replaceAll(/export (type )?(\{[^}]*\}|\*) from "[^"]+";/g, "").trim() === "";
}
