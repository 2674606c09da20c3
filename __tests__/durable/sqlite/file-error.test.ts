import { explainOpening } from "../../../lib/durable/sqlite/file-error";
import { canShare } from "../../../lib/durable/sqlite/node-sqlite";

const FILE = "/srv/push.db";

const explain = (error: Error) => explainOpening(FILE, error);

it.each([
  [26, "FILE_FOREIGN", "is not a SQLite database"],
  [11, "FILE_DAMAGED", "malformed"],
  [5, "FILE_IN_USE", "another process has"],
])("explains the error %i of SQLite as %s", (errcode, code, words) => {
  const error = Object.assign(new Error("database disk image is malformed\nmore"), { errcode });
  const explained = explain(error);
  expect(explained).toMatchObject({ name: "QueueError", code });
  expect((explained as Error).message).toContain(FILE);
  expect((explained as Error).message).toContain(words);
  expect((explained as Error).message).not.toContain("more");
});

it("says which Node.js can share a file", () => {
  const explained = explain(Object.assign(new Error("locked"), { errcode: 5 })) as Error;
  const isSharing = canShare(process.versions.sqlite ?? "");
  expect(explained.message.includes("3.51.3 or newer")).toBe(!isSharing);
});

it("leaves other errors as they are", () => {
  const error = Object.assign(new Error("disk full"), { errcode: 13 });
  expect(explain(error)).toBe(error);
});
