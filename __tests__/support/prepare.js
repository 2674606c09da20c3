"use strict";

const { chmodSync, existsSync, mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { delimiter, join } = require("node:path");
const { buildPage } = require("../../lib/admin/console/page/build");

/** Where macOS and Windows have a Chromium, which is on no PATH there. */
const CHROMES = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:/Program Files/Google/Chrome/Application/chrome.exe",
  "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
];

module.exports = function prepare() {
  // The Jest of durable/sqlite.test.ts shares the resources of the run around it.
  if (process.env.PUSH_TEST_RUN !== undefined) return;
  settleEnvironment();
  const folder = mkdtempSync(join(tmpdir(), "push-run-"));
  process.env.PUSH_TEST_RUN = folder;
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  // The user of PostgreSQL writes there, too.
  chmodSync(folder, 0o755);
  find("PUSH_TEST_REDIS_SERVER", ["redis-server", "valkey-server"]);
  find(
    "PUSH_TEST_CHROMIUM",
    ["chromium", "chromium-browser", "google-chrome"],
    process.env.CHROMIUM_PATH,
    ...CHROMES,
  );
  find("PUSH_TEST_FIREFOX", ["firefox-esr", "firefox"], process.env.FIREFOX_PATH);
  // The router looks for the page beside its own module; here that is in lib.
  buildPage(join(__dirname, "../../lib/admin/console/assets"));
};

/** Variables of a developer that change what Node.js, libraries and programs of the tests do. */
const FOREIGN = /^(LC_|LANG|PG|REDIS|PUSH_(?!TEST_)|NODE_OPTIONS$|(NODE_)?DEBUG$)/;

/** Makes the processes of the tests independent of the shell that starts them. */
function settleEnvironment() {
  for (const name of Object.keys(process.env)) if (FOREIGN.test(name)) delete process.env[name];
  // npm may need the proxy of the machine.
  const noProxy = "127.0.0.1,localhost";
  Object.assign(process.env, { LC_ALL: "C", TZ: "UTC", NO_PROXY: noProxy, no_proxy: noProxy });
}

function find(variable, names, ...places) {
  if (process.env[variable] !== undefined) return;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const files = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = [...places, ...files].find((file) => file && existsSync(file));
  process.env[variable] = found ?? "";
}
