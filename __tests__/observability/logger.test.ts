import { Console } from "node:console";
import { Writable } from "node:stream";
import type { Logger } from "express-push-verification";
import { adaptConsole } from "../../lib/observability/logger";

const LEVELS = ["debug", "info", "warn", "error"] as const;

describe("adaptConsole", () => {
  it("prints the message before the fields on a console", () => {
    let printed = "";
    const stream = new Writable({
      write(chunk, _encoding, done) {
        printed += String(chunk);
        done();
      },
    });
    const logger = adaptConsole(new Console(stream));
    for (const level of LEVELS) logger[level]({ code: "C" }, `at ${level}`);
    expect(printed).toBe(LEVELS.map((level) => `at ${level} { code: 'C' }\n`).join(""));
  });

  it("returns another logger as it is, one of methods named as those of a console too", () => {
    const logger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
    expect(adaptConsole(logger)).toBe(logger);
  });
});
