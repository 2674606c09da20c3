import { findRedisRejection } from "../../../lib/durable/redis/connection";

const replyOf = (message: string) => Object.assign(new Error(message), { name: "ReplyError" });

describe("findRedisRejection", () => {
  it.each(["WRONGPASS invalid username-password pair", "NOAUTH Authentication required."])(
    "returns %j",
    (message) => {
      const reply = replyOf(message);
      expect(findRedisRejection(reply)).toBe(reply);
      expect(
        findRedisRejection(Object.assign(new Error("all failed"), { lastNodeError: reply })),
      ).toBe(reply);
    },
  );

  it.each([
    "LOADING Redis is loading the dataset in memory",
    "ERR max number of clients reached",
    "CLUSTERDOWN The cluster is down",
    "MOVED 297 127.0.0.2:38251",
    "ASK 297 127.0.0.2:38251",
  ])("counts %j as an outage", (message) => {
    expect(findRedisRejection(replyOf(message))).toBeUndefined();
  });

  it("counts an error that is no reply as an outage", () => {
    expect(findRedisRejection(new Error("Connection is closed."))).toBeUndefined();
  });
});
