import {
  paint,
  printTable,
  readSecret,
  UsageError,
  Interruption,
  withoutControls,
} from "../../lib/cli/terminal";
import { createTerminal } from "../support/terminals";

describe("paint", () => {
  it.each([
    [true, {}, "\u001B[32mok\u001B[0m"],
    [true, { NO_COLOR: "1" }, "ok"],
    [true, { NO_COLOR: "" }, "\u001B[32mok\u001B[0m"],
    [false, {}, "ok"],
  ])("on a terminal: %s, with %j", (isTTY, env, text) => {
    expect(paint(createTerminal(env, { isTTY }).terminal, "green", "ok")).toBe(text);
  });
});

describe("printTable", () => {
  const rows = [
    ["SK1", null],
    ["SK22", "a\u001B[2Jb\nc"],
  ];

  it("aligns columns on a terminal, and obeys nothing in them", () => {
    const { terminal, written } = createTerminal({ NO_COLOR: "1" }, { isTTY: true });
    printTable(terminal, ["SID", "NAME"], rows);
    expect(written.stdout).toBe("SID   NAME\nSK1   null\nSK22  a?[2Jb?c\n");
  });

  it("separates with tabs elsewhere", () => {
    const { terminal, written } = createTerminal();
    printTable(terminal, ["SID", "NAME"], rows);
    expect(written.stdout).toBe("SID\tNAME\nSK1\tnull\nSK22\ta?[2Jb?c\n");
  });
});

describe("withoutControls", () => {
  it("keeps lines and nothing else that a terminal would obey", () => {
    expect(withoutControls("a\nb\u001B[2J\u009B\u202Ec")).toBe("a\nb?[2J??c");
  });
});

describe("readSecret", () => {
  it("takes it from the environment", async () => {
    const { terminal } = createTerminal({ PUSH_AUTH_TOKEN: "hush" });
    expect(await readSecret(terminal, "PUSH_AUTH_TOKEN")).toBe("hush");
  });

  it("says what to set where nobody can be asked", async () => {
    await expect(readSecret(createTerminal().terminal, "PUSH_X")).rejects.toThrow(UsageError);
  });

  it("asks on a terminal, and does not show what is typed", async () => {
    const { terminal, written, input } = createTerminal({}, { isTTY: true });
    const asked = readSecret(terminal, "PUSH_X");
    input.write("hush\n");
    expect(await asked).toBe("hush");
    expect(written).toEqual({ stdout: "", stderr: "PUSH_X: \n" });
  });

  it("gives up when the terminal is closed, or Ctrl-C comes", async () => {
    const closed = createTerminal({}, { isTTY: true });
    const [asked] = [readSecret(closed.terminal, "PUSH_X"), closed.input.end()];
    await expect(asked).rejects.toThrow(UsageError);

    const typed = createTerminal({}, { isTTY: true });
    const [other] = [readSecret(typed.terminal, "PUSH_X"), typed.input.write("\u0003")];
    await expect(other).rejects.toThrow(Interruption);

    const signalled = createTerminal({}, { isTTY: true });
    const [third] = [readSecret(signalled.terminal, "PUSH_X"), signalled.interrupt()];
    await expect(third).rejects.toThrow(Interruption);
  });
});
