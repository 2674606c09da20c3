import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build, type Format } from "esbuild";
import { signedRequest } from "express-push-verification/testing";
import { AUTH_TOKEN as authToken, PUBLIC_URL as publicUrl } from "./support/webhook-requests";

const root = join(__dirname, "..");
const run = promisify(execFile);
const NAME = "express-push-verification";
/** The bundled packages are CommonJS: they call `require` for the modules of Node.js. */
const BANNER =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

let app: string;

// An app that has this package and zod, and a body-parser that must not be loaded.
beforeAll(async () => {
  app = mkdtempSync(join(tmpdir(), "push-bundle-"));
  const modules = join(app, "node_modules");
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const output = ["--outDir", join(modules, NAME, "dist")];
  await run(process.execPath, [tsc, "-p", join(root, "tsconfig.json"), ...output]);
  cpSync(join(root, "package.json"), join(modules, NAME, "package.json"));
  symlinkSync(join(root, "node_modules", "zod"), join(modules, "zod"));
  mkdirSync(join(modules, "body-parser"));
  writeFileSync(join(modules, "body-parser", "index.js"), 'throw new Error("loaded");');
  const request = signedRequest({ authToken, publicUrl }, "challenge.approved");
  const given = [request, { authToken, publicUrl }].map((one) => JSON.stringify(one)).join(", ");
  writeFileSync(
    join(app, "function.mjs"),
    `import { verifyPushRequest } from "${NAME}";
    verifyPushRequest(${given}).then((event) => console.log(event.type));`,
  );
}, 60_000);

afterAll(() => rmSync(app, { recursive: true, force: true }));

describe("an app of verifyPushRequest alone", () => {
  it("runs without body-parser", async () => {
    const ran = await run(process.execPath, [join(app, "function.mjs")]);
    expect(ran.stdout).toBe("challenge.approved\n");
  });

  it.each<[Format, string, treeShaking: boolean]>([
    ["esm", "mjs", false],
    ["esm", "mjs", true],
    ["cjs", "cjs", false],
  ])(
    "runs as a bundle of esbuild: format %s, .%s, tree shaking %s",
    async (format, ending, treeShaking) => {
      const outfile = join(app, `bundle.${ending}`);
      await build({
        entryPoints: [join(app, "function.mjs")],
        outfile,
        bundle: true,
        platform: "node",
        format,
        treeShaking,
        logLevel: "error",
        ...(format === "esm" && { banner: { js: BANNER } }),
      });
      const ran = await run(process.execPath, [outfile], { cwd: tmpdir() });
      expect(ran.stdout).toBe("challenge.approved\n");
    },
    30_000,
  );
});

it("an app of pushWebhooks loads body-parser when the receiver is created", async () => {
  const script = `require("${NAME}").pushWebhooks({ authToken: "t", publicUrl: "https://a.example/" })`;
  const ran = run(process.execPath, ["-e", script], { cwd: app });
  await expect(ran).rejects.toHaveProperty("stderr", expect.stringContaining("Error: loaded"));
});
