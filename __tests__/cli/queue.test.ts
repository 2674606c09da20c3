import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { Queue } from "bullmq";
import { postgresQueue, redisQueue } from "express-push-verification/durable";
import { createCertificate } from "../support/certificate";
import { useFolder } from "../support/folders";
import { findFreePort } from "../support/ports";
import {
  describeWithPostgres,
  giveToServer,
  startPostgres,
  type PostgresProcess,
} from "../support/postgres";
import { describeWithRedis, DURABLE, startRedis, stopRedis } from "../support/redis";
import { silent } from "../support/receivers";
import { runCommand, startCommand } from "../support/terminals";
import { countTime, nextTurn } from "../support/waiting";
import { testSubcommands } from "./queue-subcommands";

const folder = useFolder();

async function expectAuthority(url: string, cert: string): Promise<void> {
  const run = (ca: string) =>
    runCommand(["queue", "stats", "--name", "cli", "--queue", url, "--ca", ca]);
  expect(await run(cert)).toMatchObject({ code: 0, stderr: "" });
  const other = join(folder, "other.pem");
  writeFileSync(other, rootCertificates[0] ?? "");
  expect(await run(other)).toHaveProperty("code", 1);
}

describeWithRedis("queue … --queue redis://…", () => {
  let url: string;
  let tlsPort: number;
  beforeAll(async () => {
    tlsPort = await findFreePort();
    const { key, cert } = createCertificate(folder);
    const files = { "tls-cert-file": cert, "tls-key-file": key, "tls-ca-cert-file": cert };
    const tls = { "tls-port": String(tlsPort), "tls-auth-clients": "no", ...files };
    ({ url } = await startRedis({ ...DURABLE, ...tls }));
  });
  afterAll(stopRedis);
  testSubcommands(() => ({ store: url, queue: redisQueue({ name: "cli", connection: url }) }));
  it("stats says that an operator has paused the queue", async () => {
    const board = new Queue("cli", { prefix: "push", connection: { url } });
    await board.pause();
    const { stdout } = await runCommand(["queue", "stats", "--name", "cli", "--queue", url]);
    await board.resume();
    await board.close();
    expect(stdout).toMatch("hold\tpaused");
  });
  it("a queue that is closed while its TLS handshake fails does not end the process", async () => {
    const tls = { ca: rootCertificates[0] };
    const connection = { url: `rediss://127.0.0.1:${tlsPort}`, tls };
    // The alert of the server may come before, with or after the close.
    for (let turns = 0; turns < 60; turns++) {
      const queue = redisQueue({ name: "tls", connection, logger: silent });
      for (let turn = 0; turn < turns; turn++) await nextTurn();
      await queue.close();
    }
  });
  it("--ca names the authority of its certificate", () =>
    expectAuthority(`rediss://127.0.0.1:${tlsPort}`, join(folder, "cert.pem")));
});

describeWithPostgres("queue … --queue postgres://…", () => {
  let server: PostgresProcess;
  beforeAll(async () => {
    server = await startPostgres({ settings: { fsync: "off" } });
  });
  afterAll(() => server.remove());
  it("makes no tables for a command", async () => {
    const args = ["queue", "stats", "--name", "cli", "--queue", server.url];
    expect(await runCommand(args)).toMatchObject({ code: 1, stdout: "" });
    const [made] = await server.query("select to_regnamespace('push')::text as schema");
    expect(made).toEqual({ schema: null });
  });
  testSubcommands(() => {
    const { url: store } = server;
    return { store, queue: postgresQueue({ name: "cli", connection: store, durability: "trust" }) };
  });
  it("--ca names the authority of its certificate", async () => {
    const { key, cert } = createCertificate(server.folder);
    giveToServer(server, key, cert);
    await server.set("ssl_key_file", key);
    await server.set("ssl_cert_file", cert);
    await server.set("ssl", "on");
    for (const query of ["", "?application_name=a", "?sslmode=verify-ca"])
      await expectAuthority(server.url + query, cert);
  });
});

describe("a store that does not respond", () => {
  countTime();
  const line = "queue stats --name cli --queue redis://127.0.0.1:2";

  it.each([
    ["after 15 s", 1],
    ["when the command is interrupted", 130],
  ])("is given up %s", async (_when, code) => {
    const { run, interrupt, waitFor } = startCommand(line.split(" "));
    await waitFor(/ECONNREFUSED/, "stderr");
    if (code === 1) jest.advanceTimersByTime(15_000);
    else interrupt();
    expect(await run).toBe(code);
  });
});

it.each(["", "missing.db", "mysql://a"])("rejects the store %j", async (store) => {
  const ended = await runCommand(["queue", "stats", "--name", "cli"], { PUSH_QUEUE: store });
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("PUSH_QUEUE") });
});
