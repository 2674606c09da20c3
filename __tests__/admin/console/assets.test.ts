import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readAssets } from "../../../lib/admin/console/assets";

describe("readAssets", () => {
  it("reads each file of the page with its content type", () => {
    const found = [...readAssets()].map(([path, { contentType }]) => [path, contentType]);
    expect(found).toEqual([
      ["/", "text/html; charset=utf-8"],
      ["/page.js", "text/javascript; charset=utf-8"],
      ["/page.css", "text/css; charset=utf-8"],
      ["/icon.svg", "image/svg+xml"],
    ]);
  });

  it("has every file that the page refers to, by a relative link", () => {
    const assets = readAssets();
    const html = String(assets.get("/")?.body);
    const links = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => link);
    expect(links.toSorted()).toEqual(["icon.svg", "page.css", "page.js"]);
    for (const link of links) expect(assets.get(`/${link}`)?.body.length).toBeGreaterThan(100);
  });

  it("throws when a file is missing, and says which and what to do", async () => {
    const folder = await mkdtemp(join(tmpdir(), "push-assets-"));
    try {
      // It reads the folder beside its own module.
      const module = join(folder, "assets.ts");
      await copyFile(require.resolve("../../../lib/admin/console/assets"), module);
      await mkdir(join(folder, "assets"));
      await writeFile(join(folder, "assets", "page.html"), "<!doctype html>");
      const copy = (await import(module)) as { readAssets: typeof readAssets };
      expect(copy.readAssets).toThrow(
        /^adminRouter: the console's page is missing, no file ".*page\.js"\. .*build:page/,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
