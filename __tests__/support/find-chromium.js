"use strict";

const { existsSync } = require("node:fs");
const { delimiter, join } = require("node:path");

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** Finds the browser of the console's tests: CHROMIUM_PATH, or a Chromium on the PATH. */
module.exports = function findChromium() {
  if (process.env.PUSH_TEST_CHROMIUM !== undefined) return;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const files = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  const browser = [process.env.CHROMIUM_PATH ?? "", ...files].find((file) => existsSync(file));
  process.env.PUSH_TEST_CHROMIUM = browser ?? "";
  if (browser !== undefined || process.env.CI !== "true") return;
  throw new Error("There is no Chromium to test with: put it on the PATH, or set CHROMIUM_PATH.");
};
