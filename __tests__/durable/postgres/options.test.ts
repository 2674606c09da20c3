import { inspect } from "node:util";
import { Pool } from "pg";
import { postgresQueue } from "express-push-verification/durable";
import { resolvePostgresOptions } from "../../../lib/durable/postgres/options";
import { toNeutralError } from "../../../lib/durable/postgres/setup";

const valid = { connection: "postgres://app:hunter2@127.0.0.1:1/app", name: "q" };

it("postgresQueue has defaults", () => {
  const own = { schema: "push", create: true, durability: "require", maxConnections: 10 };
  expect(resolvePostgresOptions(valid)).toMatchObject(own);
});

it.each<[name: string, ...wrong: unknown[]]>([
  ["name", "a:b"],
  ["schema", "Push", 'p"; drop table x', "pg_push"],
  // The connections of a pool are not those of the queue.
  ["connection", "redis://127.0.0.1", new Pool()],
  ["durability", "maybe"],
  ["maxConnections", 1],
  ["attempts", 0],
  ["prefix", "x"],
])("postgresQueue rejects a wrong %s without showing a password", (name, ...values) => {
  for (const value of values) {
    const create = () => postgresQueue({ ...valid, [name]: value });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(new RegExp(`^(?!.*hunter2).*${name}`));
  }
});

it.each([
  ["22P02", false],
  ["22003", false],
  ["23505", false],
  ["42804", false],
  ["08006", true],
  ["25006", true],
  ["42501", true],
  ["53100", true],
  ["57P01", true],
])("an error %s of Postgres keeps its message: %p, which may quote an event", (code, isKept) => {
  const error = Object.assign(new Error('invalid: "hush"'), { severity: "ERROR", code });
  const neutral = toNeutralError(error);
  expect(neutral).toHaveProperty("code", code);
  expect(inspect(neutral, { showHidden: true }).includes("hush")).toBe(isKept);
});
