import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(__dirname, "..");

describe("npm start", () => {
  it("shows all five types in both versions, a duplicate, a forgery and an outcome", async () => {
    const tsx = join(root, "node_modules", "tsx", "dist", "cli.mjs");
    const started = promisify(execFile)(process.execPath, [tsx, "examples/start.ts"], {
      cwd: root,
    });
    const { stdout, stderr } = await started;
    expect(stderr).toBe("");
    for (const version of ["v1", "v2"]) {
      for (const type of [
        "factor.created",
        "factor.verified",
        "factor.deleted",
        "challenge.approved",
        "challenge.denied",
      ]) {
        expect(stdout).toContain(`200 for ${type} ${version}`);
      }
    }
    expect(stdout.match(/handler:/g)).toHaveLength(11);
    expect(stdout).toContain("refused: SIGNATURE_MISMATCH\n403 for");
    expect(stdout).toContain("was approved first");
  }, 60_000);
});
