import { inspect } from "node:util";
import { Pool } from "pg";
import { postgresQueue, type QueueError } from "express-push-verification/durable";
import { resolvePostgresOptions } from "../../../lib/durable/postgres/options";
import {
  checkDurability,
  findRejection,
  isConnectionLost,
  toNeutralError,
} from "../../../lib/durable/postgres/setup";

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
  ["42804", false, "POSTGRES_REJECTED"],
  ["0A000", false, "POSTGRES_REJECTED"],
  ["3F000", false, "POSTGRES_REJECTED"],
  ["42P05", false, "POSTGRES_POOLED"],
  ["26000", false, "POSTGRES_POOLED"],
  ["08006", true],
  ["25006", true],
  ["28000", true, "POSTGRES_REJECTED"],
  ["28P01", true, "POSTGRES_REJECTED"],
  ["3D000", true, "POSTGRES_REJECTED"],
  ["42501", true, "POSTGRES_REJECTED"],
  ["53100", true],
  ["57P01", true],
  ["58030", true],
])("an error %s of Postgres keeps its message: %p, rejection: %p", (...row) => {
  const [code, isKept, rejection] = row;
  const error = Object.assign(new Error('invalid: "hush"'), { severity: "ERROR", code });
  const neutral = toNeutralError(error);
  expect(neutral).toHaveProperty("code", code);
  expect(inspect(neutral, { showHidden: true }).includes("hush")).toBe(isKept);
  expect(findRejection(error)?.code).toBe(rejection);
  expect(isConnectionLost(error)).toBe(/^(25006|57P01)$/.test(code));
});

it.each(["CERT_HAS_EXPIRED", "UNABLE_TO_GET_ISSUER_CERT", "ERR_TLS_X", "ERR_SSL_X", "ERR_OSSL_X"])(
  "the error %s of TLS is a rejection, after which the connection is of no use",
  (code) => {
    const error = Object.assign(new Error("TLS"), { code });
    expect(findRejection(error)).toHaveProperty("code", "POSTGRES_REJECTED");
    expect(isConnectionLost(error)).toBe(true);
  },
);

it.each<[found: object, code: string, words: string]>([
  [{ version: 130_000 }, "", ""],
  [{ version: 129_999 }, "POSTGRES_OLD", "this is 12"],
  [{ setting: "off", source: "client" }, "POSTGRES_NOT_DURABLE", "fsync = on in connection"],
  [{ setting: "off", source: "command line" }, "POSTGRES_NOT_DURABLE", "in the command line"],
])("a Postgres with %j is rejected with %s", async (found, code, words) => {
  const row = { version: 160_000, name: "fsync", setting: "on", ...found };
  const client = { query: async () => ({ rows: [row] }) };
  const check = checkDurability(client as never, resolvePostgresOptions(valid));
  const rejection = await check.catch((error: QueueError) => error);
  expect(rejection?.code ?? "").toBe(code);
  expect(rejection?.message ?? "").toContain(words);
});
