import { isBuiltin } from "node:module";
import { sqliteQueue } from "express-push-verification/durable";
import type * as Durable from "../../lib/durable";
import { requireWithPackages } from "../../lib/durable/packages";

it.each([
  ["bullmq", "redisQueue", "redis://127.0.0.1", /npm install bullmq ioredis$/],
  ["pg", "postgresQueue", "postgres://127.0.0.1/app", /npm install pg$/],
] as const)(
  "names the command that installs %s when it is missing",
  (name, engine, connection, line) => {
    // Not by the words of Node.js.
    const error = new Error("no module");
    jest.doMock(name, () => {
      throw Object.assign(error, { code: "MODULE_NOT_FOUND" });
    });
    jest.isolateModules(() => {
      const durable = jest.requireActual<typeof Durable>("../../lib/durable");
      expect(() => durable[engine]({ name: "q", connection })).toThrow(line);
    });
  },
);

it("names the version of a package that an engine needs", () => {
  const load = (bullmq: string) =>
    requireWithPackages(() => 1, "redisQueue", { bullmq, ioredis: "5.4.1" });
  expect(() => load("999.0.0")).toThrow(/bullmq 999\.0\.0 or newer, not 6\./);
  expect(load("5.17.1")).toBe(1);
});

if (!isBuiltin("node:sqlite")) {
  it("rejects a Node.js without node:sqlite", () => {
    const create = () => sqliteQueue({ name: "q", file: "push.db" });
    expect(create).toThrow(TypeError);
    expect(create).toThrow("22.13");
  });
}
