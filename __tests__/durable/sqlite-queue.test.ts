import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteQueue } from "express-push-verification/durable";

const itWithoutSqlite = isBuiltin("node:sqlite") ? it.skip : it;

itWithoutSqlite(
  "rejects a Node.js without node:sqlite with a TypeError that names the version",
  () => {
    const create = () => sqliteQueue({ name: "q", file: join(tmpdir(), "push.db") });
    expect(create).toThrow(TypeError);
    expect(create).toThrow("22.13");
  },
);
