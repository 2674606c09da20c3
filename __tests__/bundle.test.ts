/** Apps of one entry each, bundled into one file that runs where no package is installed. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build, type Format } from "esbuild";
import { signedRequest } from "express-push-verification/testing";
import { installPackage, linkPackages } from "./support/built-package";
import { AUTH_TOKEN as authToken, PUBLIC_URL as publicUrl } from "./support/webhook-requests";

const run = promisify(execFile);
const NAME = "express-push-verification";
/** The bundled packages are CommonJS: they call `require` for the modules of Node.js. */
const BANNER =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

const request = signedRequest({ authToken, publicUrl }, "challenge.approved");
const settings = JSON.stringify({ authToken, publicUrl });
/** The code of each app, the line that it prints, and the packages that it installs. */
const APPS: Record<string, [code: string, printed: string, packages: string[]]> = {
  function: [
    `import { verifyPushRequest } from "${NAME}";
    verifyPushRequest(${JSON.stringify(request)}, ${settings}).then(({ type }) => console.log(type));`,
    "challenge.approved",
    [],
  ],
  receiver: [
    `import { pushWebhooks } from "${NAME}";
    console.log(pushWebhooks(${settings}).onAny(() => {}).handledTypes().length);`,
    "5",
    [],
  ],
  redis: [
    `import { redisQueue } from "${NAME}/durable/redis";
    const queue = redisQueue({ name: "bundle", connection: "redis://127.0.0.1:1" });
    queue.close().then(() => console.log("closed"));`,
    "closed",
    ["bullmq", "ioredis"],
  ],
  postgres: [
    `import { postgresQueue } from "${NAME}/durable/postgres";
    const queue = postgresQueue({ name: "bundle", connection: "postgres://127.0.0.1:1/a" });
    queue.close().then(() => console.log("closed"));`,
    "closed",
    ["pg"],
  ],
};

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "push-bundle-"));
  await installPackage(folder);
  // Only what the app of each entry needs is installed for it.
  for (const [name, [code, , packages]] of Object.entries(APPS)) {
    cpSync(join(folder, "node_modules"), join(folder, name, "node_modules"), { recursive: true });
    linkPackages(join(folder, name), packages);
    writeFileSync(join(folder, name, "app.mjs"), code);
  }
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function bundle(name: string, format: Format) {
  const outfile = join(folder, `${name}.${format === "esm" ? "mjs" : "cjs"}`);
  await build({
    entryPoints: [join(folder, name, "app.mjs")],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format,
    logLevel: "error",
    ...(format === "esm" && { banner: { js: BANNER } }),
  });
  return run(process.execPath, [outfile], { cwd: tmpdir() });
}

it.each(Object.keys(APPS).flatMap((name) => [[name, "cjs"] as const, [name, "esm"] as const]))(
  "esbuild: %s as %s runs",
  async (name, format) => {
    expect((await bundle(name, format)).stdout).toBe(`${APPS[name]?.[1]}\n`);
  },
  30_000,
);
