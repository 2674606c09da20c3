import { Pool } from "pg";
import { postgresQueue } from "express-push-verification/durable";
import { resolvePostgresOptions } from "../../../lib/durable/postgres/options";

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
])("postgresQueue rejects a wrong %s, and shows no password", (name, ...values) => {
  for (const value of values) {
    const create = () => postgresQueue({ ...valid, [name]: value });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(new RegExp(`^(?!.*hunter2).*${name}`));
  }
});
