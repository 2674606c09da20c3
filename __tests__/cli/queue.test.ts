import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { postgresQueue, redisQueue } from "express-push-verification/durable";
import { createCertificate } from "../support/certificate";
import { describeWithPostgres, startPostgres, type PostgresProcess } from "../support/postgres";
import { describeWithRedis, startRedis, stopRedis } from "../support/redis";
import { runCommand } from "../support/terminals";
import { testSubcommands } from "./queue-subcommands";

describeWithRedis("queue … --queue redis://…", () => {
  let url: string;
  beforeAll(async () => {
    ({ url } = await startRedis());
  });
  afterAll(stopRedis);
  testSubcommands(() => ({ store: url, queue: redisQueue({ name: "cli", connection: url }) }));
  testAuthority(() => url.replace("redis:", "rediss:"));
});

describeWithPostgres("queue … --queue postgres://…", () => {
  let server: PostgresProcess;
  beforeAll(async () => {
    server = await startPostgres({ settings: { fsync: "off" } });
  });
  afterAll(() => server.remove());
  testSubcommands(() => {
    const { url: store } = server;
    return { store, queue: postgresQueue({ name: "cli", connection: store, durability: "trust" }) };
  });
  testAuthority(() => server.url);
});

it.each(["", "missing.db", "mysql://a"])("rejects the store %j", async (store) => {
  const ended = await runCommand(["queue", "stats", "--name", "cli"], { PUSH_QUEUE: store });
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("PUSH_QUEUE") });
});

/** Tests a store behind TLS whose certificate has an authority of its own. */
function testAuthority(getStore: () => string): void {
  it("--ca names the authority of its certificate", async () => {
    const folder = mkdtempSync(join(tmpdir(), "push-tls-"));
    const { key, cert } = createCertificate(folder);
    const url = new URL(getStore());
    const storePort = Number(url.port);
    const server = createServer((socket) => {
      const begin = () => {
        const settings = { isServer: true, key: readFileSync(key), cert: readFileSync(cert) };
        const secure = new TLSSocket(socket, settings).on("error", () => {});
        const plain = connect(storePort, "127.0.0.1").on("error", () => {});
        secure.pipe(plain).pipe(secure);
      };
      if (url.protocol === "rediss:") return begin();
      // A client of Postgres asks for TLS first.
      socket.once("data", () => {
        socket.write("S");
        begin();
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    url.port = String((server.address() as AddressInfo).port);
    const args = ["queue", "stats", "--name", "cli", "--queue", url.href, "--ca", cert];
    expect(await runCommand(args)).toMatchObject({ code: 0, stderr: "" });
    server.close();
    rmSync(folder, { recursive: true });
  });
}
