import type * as durable from "express-push-verification/durable";

describe("postgresQueue without the package pg", () => {
  it("names the line that installs it", () => {
    jest.isolateModules(() => {
      jest.doMock("pg", () => {
        const error = new Error("Cannot find module 'pg'");
        throw Object.assign(error, { code: "MODULE_NOT_FOUND" });
      });
      const { postgresQueue } = jest.requireActual<typeof durable>(
        "express-push-verification/durable",
      );
      const create = () => postgresQueue({ name: "q", connection: "postgres://127.0.0.1/app" });
      expect(create).toThrow("npm install pg");
    });
    jest.dontMock("pg");
  });
});
