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
    [{ name: "a:b" }, "name"],
    [{ schema: "Push" }, "schema"],
    [{ schema: 'p"; drop table x' }, "schema"],
    [{ schema: "pg_push" }, "schema"],
    [{ connection: "redis://127.0.0.1" }, "connection"],
    [{ durability: "maybe" }, "durability"],
    [{ maxConnections: 1 }, "maxConnections"],
    [{ attempts: 0 }, "attempts"],
    [{ prefix: "x" }, "prefix"],
  ])("rejects %j with a TypeError that names the option", (wrong, name) => {
    const create = () => postgresQueue({ ...valid, ...wrong } as PostgresQueueOptions);
    expect(create).toThrow(TypeError);
    expect(create).toThrow(name);
    expect(create).not.toThrow("hunter2");
  });

  it("rejects a Pool: its connections are not those of the queue", async () => {
    const pool = new Pool();
    const options = { ...valid, connection: pool as unknown as PostgresQueueOptions["connection"] };
    expect(() => postgresQueue(options)).toThrow(TypeError);
    await pool.end();
  });
});
