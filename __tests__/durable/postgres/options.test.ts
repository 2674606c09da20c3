import { Pool } from "pg";
import { postgresQueue, type PostgresQueueOptions } from "express-push-verification/durable";
import { resolvePostgresOptions } from "../../../lib/durable/postgres/options";

const connection = "postgres://app:hunter2@127.0.0.1:1/app";
const valid: PostgresQueueOptions = { connection, name: "q" };

describe("options of postgresQueue", () => {
  it("have defaults", () => {
    const own = { schema: "push", durability: "require", maxConnections: 10 };
    expect(resolvePostgresOptions(valid)).toMatchObject(own);
  });

  it.each([
    ["name", "a:b"],
    ["schema", "Push"],
    ["schema", 'p"; drop table x'],
    ["schema", "pg_push"],
    ["connection", "redis://127.0.0.1"],
    // Its connections are not those of the queue.
    ["connection", new Pool()],
    ["durability", "maybe"],
    ["maxConnections", 1],
    ["attempts", 0],
    ["prefix", "x"],
  ])("rejects a wrong %s with a TypeError that names the option", (name, wrong) => {
    const create = () => postgresQueue({ ...valid, [name]: wrong });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(name);
    expect(create).not.toThrow("hunter2");
  });
});
