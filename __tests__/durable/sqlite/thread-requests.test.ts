import type { Request } from "../../../lib/durable/sqlite/protocol";
import { createThreadRequests } from "../../../lib/durable/sqlite/thread-requests";

const settle = () => new Promise((resolve) => setImmediate(resolve));
const isWanted = () => true;

it("sends a heartbeat before what waits for the disk", async () => {
  const messages: (readonly Request[])[] = [];
  const requests = createThreadRequests((message) => void messages.push(message));
  const send = (count: number) => {
    for (let index = 0; index < count; index++) void requests.send("stats", undefined, isWanted);
  };
  // Two messages are on their way; the rest waits.
  send(300);
  await settle();
  void requests.send("heartbeat", true, isWanted);
  const [first = []] = messages;
  requests.resolve(first.map(([id]) => [id, undefined] as const));
  await settle();
  expect(messages.map(({ length }) => length)).toEqual([128, 128, 45]);
  expect(messages[2]?.[0]?.[1]).toBe("heartbeat");
});

it("rejects requests that were sent and requests that wait", async () => {
  const requests = createThreadRequests(() => {});
  const all = Array.from({ length: 300 }, () => requests.send("stats", undefined, isWanted));
  await settle();
  requests.rejectAll(new Error("closed"));
  const settled = await Promise.allSettled(all);
  expect(settled.every(({ status }) => status === "rejected")).toBe(true);
});
