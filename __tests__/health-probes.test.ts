/** The health route of docs/production.md and the probes of examples/deploy, as an orchestrator calls them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transform } from "esbuild";
import { eventFixture } from "express-push-verification/testing";
import { createChildProcesses } from "./support/child-processes";
import { linkPackages } from "./support/built-package";
import { findRecipe, readText } from "./support/docs";
import { queuedEvent, silent } from "./support/durable";
import { describeWithRedis, startRedis } from "./support/redis";
import { until } from "./support/waiting";
import { useRedisQueues } from "./support/redis-queues";

/** The numbers of the liveness probe. */
function readProbe() {
  const [, probe = ""] = readText("examples/deploy/kubernetes.yaml").split("livenessProbe:");
  const read = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(probe)?.[1]);
  return {
    path: /path: (\S+),/.exec(probe)?.[1] ?? "",
    timeoutSeconds: read("timeoutSeconds"),
    failureThreshold: read("failureThreshold"),
    periodSeconds: read("periodSeconds"),
  };
}

describeWithRedis("the probes of the recipe for Kubernetes", () => {
  const queues = useRedisQueues();
  const children = createChildProcesses(join(__dirname, "support", "health-process.ts"), {
    cwd: join(__dirname, ".."),
    execArgv: ["--import", "tsx"],
  });
  const { path, timeoutSeconds, failureThreshold, periodSeconds } = readProbe();
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "push-health-"));
    linkPackages(folder, ["express"]);
    const { code } = await transform(findRecipe("health"), { loader: "ts", format: "cjs" });
    writeFileSync(join(folder, "recipe.cjs"), code);
  });
  afterEach(() => {
    children.killAll();
    rmSync(folder, { recursive: true, force: true });
  });

  it("fail when the event loop of a worker is blocked, and pass while it is idle or its store is away", async () => {
    const server = await startRedis();
    const messages: string[] = [];
    await children.start([join(folder, "recipe.cjs"), server.url], (sent) => messages.push(sent));
    const url = `http://127.0.0.1:${messages[0]}${path}`;
    /** The status of the response, or why there is none. */
    const probe = async () => {
      const signal = AbortSignal.timeout(timeoutSeconds * 1_000);
      return fetch(url, { signal }).then(
        async (response) => [response.status, await response.json()],
        (error: Error) => [error.name],
      );
    };
    expect(await probe()).toEqual([200, { status: "healthy" }]);

    server.freeze();
    const degraded = {
      status: "degraded",
      code: "STORE_UNAVAILABLE",
      since: expect.any(String) as string,
    };
    expect(await probe()).toEqual([200, degraded]);
    server.thaw();
    await until(async () => (await probe())[1] !== undefined);

    const queue = queues.open(server.url, { name: "health", logger: silent });
    const event = queuedEvent(eventFixture("factor.created", { uuid: "blocking" }));
    await queue.store(event, Number.POSITIVE_INFINITY);
    await until(() => messages.includes("blocking"));
    for (let failures = 0; failures < failureThreshold; failures++) {
      expect(await probe()).toEqual(["TimeoutError"]);
    }
  });

  it("find a worker that stopped within 30 s", () => {
    const detectedSeconds = 15;
    const probingSeconds = failureThreshold * (periodSeconds + timeoutSeconds);
    expect(detectedSeconds + probingSeconds).toBeLessThanOrEqual(30);
  });
});
