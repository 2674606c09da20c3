import { findRedisRejection } from "../../../lib/durable/redis/connection";

it.each([
  ["WRONGPASS invalid username-password pair", true],
  ["NOAUTH Authentication required.", true],
  ["LOADING Redis is loading the dataset in memory", false],
  ["ERR max number of clients reached", false],
  ["CLUSTERDOWN The cluster is down", false],
  ["MOVED 297 127.0.0.2:38251", false],
  ["ASK 297 127.0.0.2:38251", false],
])("the reply %j is a rejection: %j", (message, isRejection) => {
  const reply = Object.assign(new Error(message), { name: "ReplyError" });
  const ofNode = Object.assign(new Error("all failed"), { lastNodeError: reply });
  const expected = isRejection ? reply : undefined;
  expect([reply, ofNode].map(findRedisRejection)).toEqual([expected, expected]);
  // An error that is no reply is an outage.
  expect(findRedisRejection(new Error(message))).toBeUndefined();
});
