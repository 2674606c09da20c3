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

/** The lists of the documentation: each folder of the core imports only from those before it. */
const [CORE = [], SIDE_ROOMS = []] = Array.from(
  readSection("docs/architecture.md", "## Folders").matchAll(
    /^`form`.*$|^`durable`.*(?= import from these)/gm,
  ),
  ([list]): string[] => list.match(/\w+/g) ?? [],
);
const PAGE = /^admin\/console\/page\/[\w-]+\.tsx$/;

/** The only files that may import each package. */
const HOMES: Record<string, RegExp> = {
  "body-parser": /^admin\/http\/json-body\.ts$/,
  "node:crypto":
    /^(form\/hash|signature\/(signature|hmac|device-key)|emulator\/resources\/(auth-payload|totp))\.ts$/,
  express:
    /^admin\/(http\/(json-body|route)|router\/(router|routes|options|cross-site)|console\/console)\.ts$/,
  zod: /^validation\/zod\.ts$/,
  "zod/mini": /^event\/(schema|parse)\.ts$/,
  "zod/v4/core": /^event\/schema\.ts$/,
  "@opentelemetry/api": /^otel\/[\w-]+\.ts$/,
  bullmq: /^durable\/redis\/[\w-]+\.ts$/,
  ioredis: /^durable\/redis\/[\w-]+\.ts$/,
  pg: /^durable\/postgres\/[\w-]+\.ts$/,
  preact: PAGE,
  "preact/hooks": PAGE,
  "@preact/signals": PAGE,
  commander: /^cli\/[\w-]+\.ts$/,
};

const roomOf = (file: string) => file.split("/", 1)[0] ?? "";

/** Finds folders that the lists do not have, and imports that they do not allow. */
export function checkRooms(): string[] {
  const rooms = readdirSync(lib).filter((name) => name !== "index.ts");
  const unlisted = rooms.filter((room) => ![...CORE, ...SIDE_ROOMS].includes(room));
  return [
    ...unlisted.map((room) => `lib/${room}: is not listed in docs/architecture.md`),
    ...files.flatMap((file) =>
      importsOf(file)
        .filter((target) => !mayImport(file, target))
        .map((target) => `lib/${file}: may not import ${target}`),
    ),
    ...files.filter((file) => file.endsWith("index.ts") && !isReexportsOnly(file)),
  ];
}

function mayImport(file: string, target: string): boolean {
  if (target.endsWith("/package.json")) return true;
  if (!target.startsWith(".")) {
    const home = HOMES[target];
    return home === undefined ? target.startsWith("node:") : home.test(file);
  }
  const imported = posix.join(posix.dirname(file), target);
  const [from, to] = [roomOf(file), roomOf(imported)];
  if (/(^|\/)index$/.test(imported)) return false;
  // The router serves the console: code that both need is in admin/http.
  if (file.startsWith("admin/console/") && imported.startsWith("admin/router/")) return false;
  if (from === to || from === "index.ts") return true;
  // The CLI uses the other side rooms through their subpath exports, as an app does.
  if (from === "cli" && SIDE_ROOMS.includes(imported)) return true;
  return (SIDE_ROOMS.includes(from) ? CORE : CORE.slice(0, CORE.indexOf(from))).includes(to);
}

function isReexportsOnly(file: string): boolean {
  const text = readFileSync(join(lib, file), "utf8").replaceAll(/\/\*\*[^]*?\*\//g, "");
  return text.replaceAll(/export (type )?(\{[^}]*\}|\*) from "[^"]+";/g, "").trim() === "";
}
