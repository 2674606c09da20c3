import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(__dirname, "..");
const oxlint = join(root, "node_modules", "oxlint", "bin", "oxlint");

it("a receiver is a listener and a middleware without a complaint of no-misused-promises", async () => {
  const rules = ["no-misused-promises", "no-floating-promises", "strict-void-return"];
  const args = ["--type-aware", ...rules.flatMap((rule) => ["-D", `typescript/${rule}`])];
  const lint = promisify(execFile)(
    process.execPath,
    [oxlint, ...args, "__tests__/fixtures/listeners.ts"],
    { cwd: root },
  );
  await expect(lint).resolves.toMatchObject({ stdout: expect.stringContaining("0 errors") });
});
