import { Interruption, readSecret } from "../../lib/cli/secret";
import { UsageError } from "../../lib/cli/usage-error";
import { createTerminal } from "../support/terminals";

describe("readSecret", () => {
  it("returns the variable of the environment", async () => {
    const { terminal } = createTerminal({ PUSH_AUTH_TOKEN: "hush" });
    expect(await readSecret(terminal, "PUSH_AUTH_TOKEN")).toBe("hush");
  });

  it("rejects with the name of the variable when stdin is not a terminal", async () => {
    await expect(readSecret(createTerminal().terminal, "PUSH_X")).rejects.toThrow(UsageError);
  });

  it("prompts on a terminal and does not show the input", async () => {
    const { terminal, written, input } = createTerminal({}, { isTTY: true });
    const asked = readSecret(terminal, "PUSH_X");
    input.write("hush\n");
    expect(await asked).toBe("hush");
    expect(written).toEqual({ stdout: "", stderr: "PUSH_X: \n" });
  });

  it("rejects when the terminal is closed and on Ctrl-C", async () => {
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
