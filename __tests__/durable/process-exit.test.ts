import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { QUEUE_NAME } from "../support/durable";
import {
  describeWithRedis,
  startRedis,
  stopRedis,
  until,
  type RedisServer,
} from "../support/redis";

const root = join(__dirname, "..", "..");

describeWithRedis("a process that closes its queue ends while Redis", () => {
  afterEach(stopRedis);

  it.each<[string, (server: RedisServer) => unknown, (server: RedisServer) => unknown]>([
    ["responds", () => {}, () => {}],
    ["is frozen", (server) => server.freeze(), () => {}],
    ["is down", (server) => server.stop("SIGKILL"), () => {}],
    ["is out of memory", (server) => server.redis.config("SET", "maxmemory", "1mb"), () => {}],
    ["is read-only", (server) => server.redis.replicaof("127.0.0.1", "1"), () => {}],
    ["is killed after that", (server) => server.freeze(), (server) => server.stop("SIGKILL")],
  ])(
    "%s",
    async (_state, begin, after) => {
      const server = await startRedis();
      const file = join(root, "__tests__", "support", "closing-process.ts");
      const child = fork(file, [server.url, QUEUE_NAME], {
        cwd: root,
        execArgv: ["--import", "tsx"],
        stdio: "ignore",
      });
      const messages: unknown[] = [];
      child.on("message", (message) => void messages.push(message));
      await until(() => messages.includes("ready"), 20_000);
      // The worker waits for an event by then.
      await new Promise((later) => setTimeout(later, 500));
      await begin(server);
      await new Promise((later) => setTimeout(later, 300));
      const exited = once(child, "exit");
      child.send("close");
      await once(child, "disconnect");
      await after(server);
      try {
        expect(
          await Promise.race([exited, new Promise((later) => setTimeout(later, 4_000))]),
        ).toEqual([0, null]);
      } finally {
        child.kill("SIGKILL");
      }
    },
    40_000,
  );
});
