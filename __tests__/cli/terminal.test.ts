import fc from "fast-check";
import { paint, printJson, printTable, withoutControls } from "../../lib/cli/terminal";
import { CONTROL, hostileText } from "../support/control-characters";
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

  it("aligns columns on a terminal and replaces control characters", () => {
    const { terminal, written } = createTerminal({ NO_COLOR: "1" }, { isTTY: true });
    printTable(terminal, ["SID", "NAME"], rows);
    expect(written.stdout).toBe("SID   NAME\nSK1   null\nSK22  a?[2Jb?c\n");
  });

  it("separates columns with tabs in a pipe", () => {
    const { terminal, written } = createTerminal();
    printTable(terminal, ["SID", "NAME"], rows);
    expect(written.stdout).toBe("SID\tNAME\nSK1\tnull\nSK22\ta?[2Jb?c\n");
  });
});

describe("withoutControls", () => {
  it("keeps line breaks and replaces other control characters", () => {
    expect(withoutControls("a\nb\u001B[2J\u009B\u202Ec")).toBe("a\nb?[2J??c");
  });
});

describe("printJson", () => {
  it("prints no control character but line breaks, and the same value", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const { terminal, written } = createTerminal();
        printJson(terminal, { [text]: [text] });
        expect(JSON.parse(written.stdout)).toEqual({ [text]: [text] });
        expect(written.stdout.replaceAll("\n", "")).not.toMatch(CONTROL);
      }),
    );
  });
});
