import { once, EventEmitter } from "node:events";
import { connect, type SqliteConnection } from "../../../lib/durable/sqlite/node-sqlite";
import type { NewFileEvent } from "../../../lib/durable/sqlite/protocol";
import { startThread, type ThreadClient } from "../../../lib/durable/sqlite/thread-client";
import { measureHeap } from "../../support/heap";
import { createFile, removeFiles } from "../../support/sqlite";

jest.setTimeout(30_000);

const BODY_BYTES = 64 * 1024;

let client: ThreadClient;
let blocker: SqliteConnection | undefined;

afterEach(async () => {
  blocker?.close();
  blocker = undefined;
  await client.close(true, { deadlineMs: 5_000 });
  removeFiles();
});

async function open(file: string): Promise<void> {
  const state = new EventEmitter<{ open: []; closed: [Error] }>();
  client = startThread(
    { file, name: "q" },
    {
      onOpen: () => state.emit("open"),
      onClosed: (error) => state.emit("closed", error),
      onClaimed() {},
      onOutcome() {},
    },
  );
  await once(state, "open");
}

/** Has every transaction of the thread wait. */
function lock(file: string): void {
  blocker = connect(file);
  blocker.exec("BEGIN IMMEDIATE");
}

const createEvent = (index: number): NewFileEvent => ({
  key: index.toString(16).padStart(40, "0"),
  content: "00",
  uuid: `u${index}`,
  // Of its own: Node.js would share the characters of a repeated string.
  body: Buffer.alloc(BODY_BYTES, `${index}|`).toString("latin1"),
  expiresAt: Date.now() + 60_000,
  outcome: undefined,
});

it("keeps no event of a request that timed out while the disk stalls", async () => {
  const file = createFile();
  await open(file);
  lock(file);
  const beforeBytes = measureHeap();
  for (let turn = 0; turn < 100; turn++) {
    let isOver = false;
    for (let index = 0; index < 20; index++) {
      client.request("store", createEvent(turn * 20 + index), () => !isOver).catch(() => {});
    }
    await new Promise((resolve) => setImmediate(resolve));
    isOver = true;
  }
  // 2,000 events. Up to 256 of them are on their way to the thread.
  expect(measureHeap() - beforeBytes).toBeLessThan(500 * BODY_BYTES);
});
