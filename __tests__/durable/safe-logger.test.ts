import { createSafeLogger } from "../../lib/durable/safe-logger";

it("createSafeLogger prints the message before the fields on a console", () => {
  const printed = jest.spyOn(console, "warn").mockImplementation(() => {});
  createSafeLogger(console).warn({ role: "store" }, "Redis is out of reach");
  expect(printed.mock.calls).toEqual([["Redis is out of reach", { role: "store" }]]);
  printed.mockRestore();
});
