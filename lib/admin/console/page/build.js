"use strict";
/** Builds the page of the console into a folder: `node build.js [folder]`. */
const { readFileSync, writeFileSync } = require("node:fs");
const { join, resolve } = require("node:path");
const { minifySync } = require("@swc/core");
const { buildSync } = require("esbuild");

/** @param {string} folder where the router looks for the files of the page. */
function buildPage(folder) {
  buildSync({
    absWorkingDir: __dirname,
    entryPoints: ["page.tsx", "page.css", "page.html", "icon.svg"],
    outdir: folder,
    bundle: true,
    minify: true,
    charset: "utf8",
    format: "iife",
    // Calls of h are shorter than those of the JSX runtime that the tsconfig names; its `module`
    // would wrap each file in a function.
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
    jsx: "transform",
    jsxFactory: "h",
    jsxFragment: "Fragment",
    inject: [require.resolve("preact").replace(/js$/, "module.js")],
    target: ["es2022", "chrome123", "firefox120", "safari17.5"],
    loader: { ".html": "copy", ".svg": "copy" },
    logLevel: "warning",
  });
  // 1 kB less than by esbuild alone.
  const script = join(folder, "page.js");
  const compress = { ecma: 2022, passes: 3, unsafe_arrows: true };
  const { code } = minifySync(readFileSync(script, "utf8"), { compress, mangle: true });
  writeFileSync(script, code);
  // Only this file uses its custom properties.
  const sheet = join(folder, "page.css");
  const style = readFileSync(sheet, "utf8");
  const names = [...new Set(style.match(/--[a-z-]+/g))];
  const shorten = (/** @type {string} */ name) => `--${names.indexOf(name).toString(36)}`;
  writeFileSync(sheet, style.replace(/--[a-z-]+/g, shorten).replace(/(--\w+:|,) /g, "$1"));
  const page = join(folder, "page.html");
  writeFileSync(page, readFileSync(page, "utf8").replace(/\n\s*/g, ""));
}

module.exports = { buildPage };

if (require.main === module) {
  buildPage(resolve(process.argv[2] ?? resolve(__dirname, "../assets")));
}
