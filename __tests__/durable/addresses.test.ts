/** Mistakes in the address of a store: each is a TypeError that names the part, and shows no value. */
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { rootCertificates } from "node:tls";
import { postgresQueue, redisQueue, sqliteQueue } from "express-push-verification/durable";
import { runCommand } from "../support/terminals";

const ca = join(tmpdir(), `push-ca-${process.pid}.pem`);
beforeAll(() => writeFileSync(ca, rootCertificates[0] ?? ""));
afterAll(() => rmSync(ca));

const STORES = { redis: redisQueue, postgres: postgresQueue };
type Store = keyof typeof STORES;

const SPECIAL = /Percent-encode its user and password: # is %23/;
const PORT = /port/;
const HOST = /host/;
const SCHEME = /must begin with/;
const SPACE = /space or a line break/;

/** The mistakes of a URL, after its scheme; "S" is the scheme. The password is "hush", or a part of it. */
const URLS: [url: string, words: RegExp, only?: Store][] = [
  ["S://app:hu#sh@127.0.0.1", SPECIAL],
  ["S://app:hu/sh@127.0.0.1", SPECIAL],
  ["S://app:hu?sh@127.0.0.1", SPECIAL],
  ["S://app:1234/hush@127.0.0.1", SPECIAL],
  ["S://app:1234?hush@127.0.0.1", SPECIAL],
  ["S://app:1234?a=hush@127.0.0.1", SPECIAL],
  ["S://app:hush@a/hush@127.0.0.1", SPECIAL],
  ["S://app:hush@a#hush@127.0.0.1", SPECIAL],
  ["S://#hush@127.0.0.1", SPECIAL],
  ["S://127.0.0.1/0#hush", SPECIAL],
  ["S://app:hush%@127.0.0.1", /%25/],
  ["S://app:hush%zz@127.0.0.1", /%25/],
  ["S://app:hush@127.0.0.1/%", /%25/],
  ["S://app:hush 1@127.0.0.1", SPACE],
  [" S://app:hush@127.0.0.1", SCHEME],
  ["S://app:hush@127.0.0.1\r", SPACE],
  ["S://app:hush@127.0.0.1\n", SPACE],
  ["S://app:hush@\u200B127.0.0.1", SPACE],
  ['"S://app:hush@127.0.0.1"', SCHEME],
  ["'S://app:hush@127.0.0.1'", SCHEME],
  ["S:/app:hush@127.0.0.1", SCHEME],
  ["S//app:hush@127.0.0.1", SCHEME],
  ["S:app:hush@127.0.0.1", SCHEME],
  ["http://app:hush@127.0.0.1", SCHEME],
  ["app:hush@127.0.0.1", SCHEME],
  ["127.0.0.1", SCHEME],
  ["", SCHEME],
  ["S://app:hush@127.0.0.1:port", PORT],
  ["S://app:hush@127.0.0.1:0", PORT],
  ["S://app:hush@127.0.0.1:65536", PORT],
  ["S://app:hush@127.0.0.1:-1", PORT],
  ["S://127.0.0.1:hush", PORT],
  ["S://app:hush:127.0.0.1:1", /@ before the host/],
  ["S://app:hush@::1:1", /brackets/],
  ["S://app:hush@[::1", /brackets/],
  ["S://app:hush@[127.0.0.1]x", /brackets/],
  ["S://app:hush@a:1,b:2/0", /several hosts/],
  ["S://app:hush@{{HOST}}:1", HOST],
  ["S://app:hush@<host>", HOST],
  ["S://app:hush@a\\b", HOST],
  ["S://app:hush@a|b", HOST],
  ["S://app:hush@", HOST, "redis"],
  ["S:///0", HOST, "redis"],
  ["S://:6379", HOST, "redis"],
  ["S://%2Frun%2Fhush", HOST, "redis"],
  ["S://127.0.0.1/hush", /database/, "redis"],
  ["S://127.0.0.1/0/1", /database/, "redis"],
  ["S://127.0.0.1/-1", /database/, "redis"],
  ["S://127.0.0.1?keyPrefix=hush", /parameter/, "redis"],
  ["S://127.0.0.1?family=hush", /family/, "redis"],
  ["S://127.0.0.1?port=hush", PORT, "postgres"],
  ["S://127.0.0.1?host=a:1", HOST, "postgres"],
  ["S://127.0.0.1?sslmode=hush", /verify-full/, "postgres"],
  ["S://127.0.0.1?sslmode=verify-full&sslrootcert=/none", /ENOENT/, "postgres"],
  ["S://127.0.0.1?sslnegotiation=direkt", /sslnegotiation/, "postgres"],
  ["S://127.0.0.1?uselibpqcompat=true&sslmode=verify-ca", /sslrootcert/, "postgres"],
  ["S://127.0.0.1?query_timeout=1", /query_timeout/, "postgres"],
  ["S://127.0.0.1?replication=database", /replication/, "postgres"],
];

const OPTIONS: [options: object, words: RegExp, only?: Store][] = [
  [{ host: "redis://app:hush@127.0.0.1" }, /host is a URL/],
  [{ host: "app:hush@127.0.0.1" }, /option host/],
  [{ host: "127.0.0.1:6379" }, /option host/],
  [{ host: "" }, /option host/],
  [{ host: "a b" }, /option host/],
  [{ host: 127 }, /option host/],
  [{ port: "hush" }, /option port/],
  [{ port: Number.NaN }, /option port/],
  [{ port: 0 }, /option port/],
  [{ port: 65_536 }, /option port/],
  [{ port: "" }, /option port/],
  [{ password: 1234 }, /option password/],
  [{ username: 1 }, /option username/, "redis"],
  [{ db: "app" }, /option db/, "redis"],
  [{ db: -1 }, /option db/, "redis"],
  [{ family: 5 }, /option family/, "redis"],
  [{ tls: "hush" }, /option tls/, "redis"],
  [{ url: "redis://app:hu/sh@127.0.0.1" }, SPECIAL, "redis"],
  [{ url: "redis://127.0.0.1", host: "a:1" }, /option host/, "redis"],
  [{ sentinels: [{ host: "a:1" }], name: "main" }, /sentinels/, "redis"],
  [{ cluster: [{ host: "a", port: 0 }] }, /cluster/, "redis"],
  [{ user: 1 }, /option user/, "postgres"],
  [{ database: 1 }, /option database/, "postgres"],
  [{ ssl: "hush" }, /option ssl/, "postgres"],
  [{ connectionString: "postgres://app:hush@127.0.0.1" }, /URL itself/, "postgres"],
  [{ url: "postgres://app:hush@127.0.0.1" }, /URL itself/, "postgres"],
];

describe.each(Object.keys(STORES) as Store[])("%sQueue", (store) => {
  const rowsOf = <Value>(rows: [value: Value, words: RegExp, only?: Store][]) =>
    rows
      .filter(([, , only = store]) => only === store)
      .map(([value, words]): [Value, RegExp] => [value, words]);

  function expectMistake(connection: unknown, words: RegExp): void {
    let error: unknown;
    try {
      STORES[store]({ name: "q", connection: connection as string });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(TypeError);
    expect((error as TypeError).message).toMatch(words);
    expect(inspect(error, { showHidden: true })).not.toMatch(/hush|Invalid URL|hu[#/?]sh/);
  }

  it.each(rowsOf(URLS))("rejects the URL %j", async (template, words) => {
    const url = template.replace("S", store);
    expectMistake(url, words);
    const run = ["queue", "stats", "--name", "q", "--queue", url];
    // --ca mends these two.
    const runs = /ENOENT|sslrootcert/.test(words.source) ? [run] : [run, [...run, "--ca", ca]];
    for (const args of runs) {
      const { code, stdout, stderr } = await runCommand(args);
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: "" });
      expect(stderr).not.toMatch(/hush|Invalid URL/);
      if (words !== SCHEME) expect(stderr).toMatch(words);
    }
  });

  it.each(rowsOf(OPTIONS))("rejects the options %j", expectMistake);
});

it("sqliteQueue shows no password of a URL", () => {
  const create = () => sqliteQueue({ name: "q", file: "postgres://app:hu/sh@127.0.0.1" });
  expect(create).toThrow(/^(?!.*hu\/sh)/);
});
