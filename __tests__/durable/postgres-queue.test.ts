import type * as durable from "express-push-verification/durable";

describe.each(["graphile-worker", "pg"])("postgresQueue without the package %s", (name) => {
  it("names the line that installs the packages", () => {
    jest.isolateModules(() => {
      jest.doMock(name, () => {
        const error = new Error(`Cannot find module '${name}'`);
        throw Object.assign(error, { code: "MODULE_NOT_FOUND" });
      });
      const { postgresQueue } = jest.requireActual<typeof durable>(
        "express-push-verification/durable",
      );
      const create = () => postgresQueue({ name: "q", connection: "postgres://127.0.0.1/app" });
      expect(create).toThrow("npm install graphile-worker@0.16 pg");
    });
    jest.dontMock(name);
  });
});
