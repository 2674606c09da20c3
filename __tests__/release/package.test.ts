import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix, relative } from "node:path";
import { promisify } from "node:util";
import settings from "../../package.json";
import { installPackage } from "../support/built-package";
import { DOCUMENTS, readText } from "../support/docs";

const run = promisify(execFile);

/** The files of the entries, and the packages whose types each may name. */
const ENTRIES = Object.values(settings.exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [entry.types],
);
const ALLOWED: Record<string, string[]> = { "./dist/admin/index.d.ts": ["express"] };

/** Lists the packages that a file of declarations imports, also by way of the files it imports. */
function listPackages(folder: string, first: string): string[] {
  const found = new Set<string>();
  const files = new Set([join(folder, first)]);
  // Files that are added meanwhile are visited, too.
  for (const file of files) {
    const text = readFileSync(file, "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
    const targets = text.matchAll(
      /(?<!")\b(?:from|import|require)\s*\(?\s*"([^"\s]+)"|<reference types="([^"]+)"/g,
    );
    for (const [, target, reference] of targets) {
      const name = target ?? reference ?? "";
      const path = join(dirname(file), name);
      if (name === "..") files.add(join(path, "index.d.ts"));
      else if (name.startsWith(".")) files.add(`${path}.d.ts`);
      else if (!name.startsWith("node:")) found.add(name);
    }
  }
  return [...found];
}

describe("the packed tarball", () => {
  let app: string;
  let home: string;
  let files: string[];

  beforeAll(async () => {
    app = mkdtempSync(join(tmpdir(), "push-app-"));
    await installPackage(app);
    home = join(app, "node_modules", settings.name);
    const entries = readdirSync(home, { recursive: true, withFileTypes: true });
    files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => posix.join("package", relative(home, entry.parentPath), entry.name));
  });

  afterAll(() => rmSync(app, { recursive: true, force: true }));

  it("depends on body-parser and commander only", () => {
    expect(settings.dependencies).toEqual({ "body-parser": "^2.4.0", commander: "^14.0.0" });
  });

  it("holds the build, the documents, the examples that they name, and nothing else", () => {
    const others = files.filter(
      (file) =>
        !/^package\/(dist\/.+\.(js|d\.ts)|dist\/admin\/console\/assets\/(page\.(html|css)|icon\.svg)|docs\/.+\.(md|png)|examples\/(.+\.(tsx?|js|html|css|svg|md|yaml|conf)|deploy\/Dockerfile))$/.test(
          file,
        ),
    );
    expect(others.toSorted()).toEqual([
      "package/CHANGELOG.md",
      "package/CONTRIBUTING.md",
      "package/LICENSE",
      "package/README.md",
      "package/SECURITY.md",
      "package/dist/admin/console/assets/preact.LICENSE",
      "package/dist/validation/zod.LICENSE",
      "package/package.json",
    ]);
    expect(files).toEqual(expect.arrayContaining(DOCUMENTS.map((file) => `package/${file}`)));
  });

  it.each([...DOCUMENTS, "SECURITY.md", "CHANGELOG.md"])(
    "contains the files that %s links to, and the examples that it names",
    (document) => {
      const text = readText(document);
      const links = text.replaceAll(/```[^]*?```/g, "").matchAll(/\]\((?!https?:)([^)#\s]+)/g);
      const targets = [...links].map(([, link = ""]) => posix.join(posix.dirname(document), link));
      targets.push(...(text.match(/\bexamples\/[\w/-]+\.ts\b/g) ?? []));
      expect(targets.filter((target) => !files.includes(`package/${target}`))).toEqual([]);
    },
  );

  it.each(ENTRIES)("has declarations in %s that reach no package but those they may", (entry) => {
    expect(listPackages(home, entry)).toEqual(ALLOWED[entry] ?? []);
    // What the check finds elsewhere.
    expect(listPackages(home, "dist/durable/redis/connection.d.ts")).toContain("ioredis");
  });

  it("has a CLI that needs no other package", async () => {
    const bin = join(home, settings.bin["push-webhooks"]);
    expect(readFileSync(bin, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    const version = await run(process.execPath, [bin, "--version"], { cwd: app });
    expect(version.stdout).toBe(`${settings.version}\n`);
  });

  it("is the same module for import and require, and does not load express", async () => {
    const script = `import { createRequire } from "node:module"; import { WebhookError } from "${settings.name}";
      const require = createRequire(process.cwd() + "/x");
      const loaded = Object.keys(require.cache).filter((file) => /node_modules.express.(?!push)/.test(file));
      console.log(require("${settings.name}").WebhookError === WebhookError, loaded.length);`;
    const asked = await run(process.execPath, ["--input-type=module", "-e", script], { cwd: app });
    expect(asked.stdout).toBe("true 0\n");
  });
});
