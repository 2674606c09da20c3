import { sqliteQueue } from "express-push-verification/durable";
import { testSubcommands } from "../../cli/queue-subcommands";
import { createFile, removeFiles } from "../../support/sqlite";

afterAll(removeFiles);

testSubcommands(() => {
  const file = createFile();
  return { store: file, queue: sqliteQueue({ name: "cli", file }) };
});
