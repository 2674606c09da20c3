import { readText } from "../support/docs";
import { runCommand } from "../support/terminals";
import { useWarnings } from "../support/warnings";
import { emitWarning } from "../../lib/kit/process-warning";

const warnings = useWarnings();

// check:house explains each code that the package has.
it.each([
  ["SIGNATURE_MISMATCH", "docs/signatures.md#when-a-signature-does-not-match", "errors.md"],
  ["signature_mismatch", "docs/signatures.md#when-a-signature-does-not-match", "errors.md"],
  ["FILE_READONLY", "mount the folder", "errors.md"],
  ["MOUNTED_WITHOUT_PATH", "app.use(push)", "troubleshooting.md"],
  ["URL_TRAILING_SLASH", "What to change: ", "signatures.md"],
  ["ILLEGAL_TRANSITION", "20409", "errors.md"],
  ["CROSS_SITE", "another origin", "errors.md"],
  ["UPSTREAM_FOREIGN_PAGE", "502", "admin.md"],
])("explains each code, such as %s, without marks of Markdown", async (code, text, page) => {
  const { stdout, ...ended } = await runCommand(["why", code]);
  expect(ended).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(`\`${code.toUpperCase()}\``);
  expect(stdout).toContain(text);
  expect(stdout).toMatch(new RegExp(`\\nFrom .*${page.replace(".", "\\.")}\\n$`));
  expect(stdout).not.toMatch(/\*\*|\]\(/);
});

it("prints the index of questions without a code", async () => {
  const { code, stdout } = await runCommand(["why"]);
  expect(code).toBe(0);
  const [, first = ""] = /^- (.*): \[/m.exec(readText("docs/questions.md")) ?? [];
  expect(stdout).toContain(first);
  expect((await runCommand(["--help"])).stdout).toContain("push-webhooks why");
});

it.each(["NO_SUCH_CODE", "", "constructor", "`"])("ends with 2 for %j", async (code) => {
  const ended = await runCommand(["why", code]);
  expect(ended).toMatchObject({ code: 2, stdout: "" });
});

it("is what a process warning ends with", () => {
  emitWarning("EVENT_UNHANDLED", "No handler ran.");
  expect(warnings.listMessages()).toEqual([
    "No handler ran. More: npx push-webhooks why EVENT_UNHANDLED",
  ]);
});
