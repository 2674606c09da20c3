/**
 * Simulates power cuts of the disk under a SQLite queue. strace records the writes of a process. At
 * random points, the files have the writes before their last fsync, and a random part of those since.
 * Each stored event must be in them, and SQLite must find them intact.
 *
 * npm run node24 -- --import tsx bench/durable/power-cuts.ts [events] [cuts]
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { connect } from "../../lib/durable/sqlite/node-sqlite";
import { readEventNames } from "../../lib/durable/stored-event";
import { queuedEvent } from "./processes";

const [, , events = "1000", cuts = "300", traced] = process.argv;

/** A write to a file. */
interface Change {
  offset: number;
  /** Undefined: the file ends at the offset. */
  bytes: Buffer | undefined;
}

type Step =
  | { type: "change"; path: string; change: Change }
  | { type: "sync"; path: string }
  | { type: "stored"; uuid: string };

async function storeAll(file: string): Promise<void> {
  const queue = sqliteQueue({ name: "q", file });
  await queue.ready();
  writeSync(1, "stored ready\n");
  let left = Number(events);
  const lane = async () => {
    while (left-- > 0) {
      const event = eventFixture("challenge.approved", { uuid: crypto.randomUUID() });
      await queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
      writeSync(1, `stored ${event.uuid}\n`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  process.exit();
}

function readSteps(trace: string): Step[] {
  const steps: Step[] = [];
  const unfinished = new Map<string, string>();
  for (const line of readFileSync(trace, "latin1").split("\n")) {
    const [, pid = "", text = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (text.endsWith("<unfinished ...>")) {
      unfinished.set(pid, text.slice(0, -"<unfinished ...>".length));
      continue;
    }
    const [, rest] = /^<\.\.\. \w+ resumed>(.*)$/.exec(text) ?? [];
    const whole = rest === undefined ? text : (unfinished.get(pid) ?? "") + rest;
    const step = readStep(whole);
    if (step !== undefined) steps.push(step);
  }
  return steps;
}

function readStep(call: string): Step | undefined {
  const [, name = "", fd = "", escapedPath = "", args = ""] =
    /^(\w+)\((\d+)<([^>]*)>(?:, )?(.*)\) += \d+/.exec(call) ?? [];
  const path = unescapePath(escapedPath);
  const [, hex = "", numbers = ""] = /^"((?:\\x[0-9a-f]{2})*)", (.*)$/.exec(args) ?? [];
  const bytes = Buffer.from(hex.replaceAll("\\x", ""), "hex");
  if (name === "fsync" || name === "fdatasync") return { type: "sync", path };
  if (name === "ftruncate") {
    return { type: "change", path, change: { offset: Number(args), bytes: undefined } };
  }
  if (name === "pwrite64") {
    const offset = Number(numbers.split(", ")[1]);
    return { type: "change", path, change: { offset, bytes } };
  }
  const [, uuid] = /^stored (.*)\n$/.exec(bytes.toString()) ?? [];
  return name === "write" && fd === "1" && uuid !== undefined
    ? { type: "stored", uuid }
    : undefined;
}

/** A file of up to 64 MB. */
class Image {
  private readonly room = Buffer.alloc(64 * 1024 * 1024);
  private length = 0;
  /** Writes since the last fsync. */
  pending: Change[] = [];

  apply(changes: readonly Change[]): void {
    for (const { offset, bytes } of changes) {
      this.room.fill(bytes ?? 0, offset, bytes === undefined ? this.length : offset + bytes.length);
      const end = offset + (bytes?.length ?? 0);
      this.length = bytes === undefined ? offset : Math.max(this.length, end);
    }
  }

  sync(): void {
    this.apply(this.pending.splice(0));
  }

  /** Returns the file after a power cut: the disk may have written any change, in any order. */
  cut(share: number): Buffer {
    const saved = Buffer.from(this.room.subarray(0, this.length));
    const { length } = this;
    this.apply(this.pending.filter(() => Math.random() < share));
    const bytes = Buffer.from(this.room.subarray(0, this.length));
    this.room.fill(0, 0, Math.max(length, this.length));
    saved.copy(this.room);
    this.length = length;
    return bytes;
  }
}

function main(): void {
  const folder = mkdtempSync(join(tmpdir(), "push-power-"));
  const file = join(folder, "push.db");
  const trace = join(folder, "trace");
  const calls = "trace=pwrite64,write,fsync,fdatasync,ftruncate";
  const self = [process.execPath, "--import", "tsx", __filename, events, cuts, file];
  const strace = ["-f", "-y", "-xx", "-s", "100000", "-e", calls, "-o", trace, ...self];
  // -xx writes paths in hexadecimal, too, in new versions.
  const { status, stderr } = spawnSync("strace", strace, { stdio: ["ignore", "pipe", "pipe"] });
  if (status !== 0) throw new Error(`strace ended with ${status}: ${stderr.toString()}`);
  const steps = readSteps(trace);
  const names = [file, `${file}-wal`];
  const first = steps.findIndex((step) => step.type === "stored" && step.uuid === "ready");
  if (first === -1) throw new Error("The process did not open the file.");
  const syncs = steps.filter(({ type }) => type === "sync").length;
  const images = new Map(names.map((name) => [name, new Image()]));
  const stored: string[] = [];
  const share = Number(cuts) / (steps.length - first);
  let lost = 0;
  let damaged = 0;
  let made = 0;

  function checkCut(): void {
    made++;
    const home = join(folder, `cut-${made}`);
    mkdirSync(home);
    const kept = Math.random();
    for (const [name, image] of images) writeFileSync(name.replace(folder, home), image.cut(kept));
    const connection = connect(join(home, "push.db"));
    const { integrity_check: found } = connection.prepare("PRAGMA integrity_check").get() ?? {};
    if (found !== "ok") damaged++;
    const rows = connection.prepare("SELECT body FROM event").all();
    const uuids = new Set(rows.map(({ body }) => readEventNames(JSON.parse(String(body))).uuid));
    lost += stored.filter((uuid) => !uuids.has(uuid)).length;
    connection.close();
    rmSync(home, { recursive: true });
  }

  for (const [index, step] of steps.entries()) {
    if (step.type === "stored") {
      if (step.uuid !== "ready") stored.push(step.uuid);
    } else if (step.type === "change") images.get(step.path)?.pending.push(step.change);
    else images.get(step.path)?.sync();
    if (index > first && Math.random() < share) checkCut();
  }
  console.log({ stored: stored.length, syncs, cuts: made, lost, damaged });
  rmSync(folder, { recursive: true });
}

function unescapePath(path: string): string {
  return Buffer.from(
    path.replaceAll(/\\x([0-9a-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    ),
  ).toString();
}

if (traced === undefined) main();
else void storeAll(traced);
