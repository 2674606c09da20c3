import { startHeartbeat, type Heartbeat } from "../../../lib/durable/sqlite/heartbeat";
import type { ThreadClient } from "../../../lib/durable/sqlite/thread-client";

let heartbeat: Heartbeat;
afterEach(() => heartbeat.stop());

function start() {
  const sent: { isWorking: boolean; end: (error?: Error) => void }[] = [];
  const state = { open: jest.fn(), fail: jest.fn() };
  const app = { isOpen: true, isWorking: false };
  const thread = {
    isOpen: () => app.isOpen,
    request: (_name: string, isWorking: boolean) =>
      new Promise<void>((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve() : reject(error));
        sent.push({ isWorking, end });
      }),
  };
  heartbeat = startHeartbeat(
    thread as unknown as ThreadClient,
    state as never,
    () => app.isWorking,
  );
  return { sent, state, app };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

it("has one heartbeat wait at a time, and tells what changed meanwhile with the next", async () => {
  const { sent, state, app } = start();
  heartbeat.beat();
  app.isWorking = true;
  heartbeat.beat();
  heartbeat.beat();
  expect(sent).toHaveLength(1);
  sent[0]?.end();
  await settle();
  expect(sent.map(({ isWorking }) => isWorking)).toEqual([false, true]);
  expect(state.open).toHaveBeenCalledTimes(1);
  sent[1]?.end();
  await settle();
  expect(sent).toHaveLength(2);
});

it("reports the failure of the file, and beats again when it is open", async () => {
  const { sent, state, app } = start();
  heartbeat.beat();
  heartbeat.beat();
  app.isOpen = false;
  const failure = new Error("disk");
  sent[0]?.end(failure);
  await settle();
  expect(state.fail).toHaveBeenCalledWith(failure);
  expect(sent).toHaveLength(1);
  app.isOpen = true;
  heartbeat.beat();
  expect(sent).toHaveLength(2);
});
