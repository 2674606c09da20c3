import { redisQueue } from "express-push-verification/durable";
import { describeWithRedis, startRedis, stopRedis, until } from "../../support/redis";

jest.setTimeout(60_000);

describeWithRedis("an outage of Redis", () => {
  afterAll(stopRedis);

  it("warns the process once when there is no logger", async () => {
    const warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    const server = await startRedis();
    const queue = redisQueue({ connection: server.url, name: "q" });
    try {
      await queue.ready();
      for (const outage of [1, 2]) {
        await server.stop("SIGKILL");
        await until(() => warnings.mock.calls.length === outage);
        await server.start();
        await until(() => queue.stats().then(Boolean, () => false));
      }
      const warning = [
        expect.stringMatching(/^Redis cannot be used: /),
        { type: "PushWebhooksWarning", code: "REDIS_UNREACHABLE" },
      ];
      expect(warnings.mock.calls).toEqual([warning, warning]);
    } finally {
      await queue.close({ deadlineMs: 0 });
      warnings.mockRestore();
    }
  });
});
