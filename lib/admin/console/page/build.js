"use strict";
/** Builds the page of the console into a folder: `node build.js [folder]`. */
const { resolve } = require("node:path");
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
}

module.exports = { buildPage };

if (require.main === module) {
  buildPage(resolve(process.argv[2] ?? resolve(__dirname, "../assets")));
}
