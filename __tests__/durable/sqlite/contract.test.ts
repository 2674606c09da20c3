import { sqliteQueue } from "express-push-verification/durable";
import { connect } from "../../../lib/durable/sqlite/node-sqlite";
import { createFile, removeFiles } from "../../support/sqlite";
import { describeContract } from "../contract";

// Each commit waits for the disk of this machine.
jest.setTimeout(20_000);

describe("sqliteQueue", () => {
  let file: string;

  describeContract({
    kind: "sqlite",
    place: () => ({ file }),
    async start() {
      file = createFile();
    },
    open: (options) => sqliteQueue({ name: "q", file, ...options }),
    async moveTimes(ms) {
      const connection = connect(file);
      connection.exec(`UPDATE event SET run_at = run_at + ${ms}, failed_at = failed_at + ${ms}`);
      connection.close();
    },
    async stop() {
      removeFiles();
    },
  });
});
