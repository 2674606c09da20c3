"use strict";
/**
 * This version beside another commit, per good request: CPU time of the server in alternating rounds,
 * and instructions where valgrind is installed. Differences of CPU time below 5 % need a quiet machine.
 */
const { execFileSync, spawnSync } = require("node:child_process");
const { existsSync, mkdtempSync, rmSync, symlinkSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { makeGoodRequest } = require("./requests.cjs");
const { instructions } = require("./instructions.cjs");
const { sendAll } = require("./load.cjs");
const { median } = require("./median.cjs");
const { startServer } = require("./servers.cjs");
const { warmUp } = require("./warm-up.cjs");

const ROOT = join(__dirname, "..", "..");
const ROUNDS = 40;
const REQUESTS_PER_ROUND = 500;
const MODES = { g: "in node:http", f: "in Express 5" };

function git(...args) {
  return execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
}

/** Builds a commit in a folder of its own. */
function build(commit) {
  const folder = join(mkdtempSync(join(tmpdir(), "push-against-")), "checkout");
  git("worktree", "add", "--detach", folder, commit);
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const project = existsSync(join(folder, "tsconfig.build.json")) ? "tsconfig.build.json" : ".";
  const tsc = join(ROOT, "node_modules", ".bin", "tsc");
  // Its errors do not matter: an engine of then may need a package that is not installed now.
  spawnSync(tsc, ["-p", project], { cwd: folder });
  if (!existsSync(join(folder, "dist/index.js"))) throw new Error(`${commit} does not compile.`);
  return folder;
}

async function measureRound({ port, measure }) {
  const requests = Array.from({ length: REQUESTS_PER_ROUND }, makeGoodRequest);
  const before = await measure();
  await sendAll(port, requests, 200);
  return ((await measure()).cpuMicros - before.cpuMicros) / REQUESTS_PER_ROUND;
}

async function compareBuilds(contestant, dist) {
  const servers = [await startServer(contestant, "normal", { DIST: dist })];
  servers.push(await startServer(contestant));
  for (const server of servers) await warmUp(server);
  const [before, now, ratios] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    // In turns: other load of the machine then disturbs both alike.
    const figures = [];
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      figures[index] = await measureRound(servers[index]);
    }
    before.push(figures[0]);
    now.push(figures[1]);
    ratios.push(figures[1] / figures[0]);
  }
  for (const server of servers) server.stop();
  return { before: median(before), now: median(now), ratio: median(ratios) };
}

const format = (count) => `${(count / 1_000).toFixed(1)} k`.padStart(9);

/** @param {string} commit its hash or any other name of git */
async function against(commit) {
  if (commit === "") throw new Error("Pass a commit: npm run bench -- against=<commit>");
  const folder = build(commit);
  try {
    console.log(
      `\nCPU of the server per good request, ${git("rev-parse", "--short", commit)} and now: medians of ${ROUNDS} alternating rounds of ${REQUESTS_PER_ROUND}, and of their ratios`,
    );
    for (const [contestant, name] of Object.entries(MODES)) {
      const { before, now, ratio } = await compareBuilds(contestant, join(folder, "dist"));
      console.log(
        `${before.toFixed(1).padStart(6)} µs ${now.toFixed(1).padStart(6)} µs ${ratio.toFixed(3)}  ${name}`,
      );
    }
    const counts = await instructions([
      { dist: join(folder, "dist") },
      { dist: join(ROOT, "dist") },
    ]);
    if (counts === undefined) console.log("no instructions counted: valgrind is not installed");
    else {
      const [before, now] = counts;
      console.log(`${format(before)} ${format(now)} ${(now / before).toFixed(3)}  instructions`);
    }
  } finally {
    git("worktree", "remove", "--force", folder);
    rmSync(join(folder, ".."), { recursive: true, force: true });
  }
}

module.exports = { against };
