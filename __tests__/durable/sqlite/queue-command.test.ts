import { sqliteQueue } from "express-push-verification/durable";
import { connect } from "../../../lib/durable/sqlite/node-sqlite";
import { testSubcommands } from "../../cli/queue-subcommands";
import { createFile, removeFiles } from "../../support/sqlite";
import { runCommand } from "../../support/terminals";

afterAll(removeFiles);

testSubcommands(() => {
  const file = createFile();
  return { store: file, queue: sqliteQueue({ name: "cli", file }) };
});

it("says that another process does not share the file", async () => {
  const file = createFile();
  const connection = connect(file);
  connection.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  const run = await runCommand(["queue", "stats", "--name", "cli", "--queue", file]);
  connection.close();
  expect(run).toMatchObject({ code: 1, stderr: expect.stringMatching("does not share it") });
});
