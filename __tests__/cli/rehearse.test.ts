/** The staff route of a rehearsal, and the command of a deploy script that calls it. */
import express from "express";
import { adminRouter, type AuditEntry } from "express-push-verification/admin";
import {
  clientOf,
  startEmulator,
  startReceiver,
  startTarget,
  stopEmulators,
} from "../support/emulators";
import { runCommand, startCommand } from "../support/terminals";

afterEach(stopEmulators);

const [OK, FAILED, SKIPPED] = ["\u001B[32mok", "\u001B[31mfailed", "\u001B[2mskipped"];
const HEADER = "Authorization: Bearer hush-hush";

async function start(
  options: { hasWebhook?: boolean; hasReceiver?: boolean; readOnly?: boolean } = {},
) {
  const { hasWebhook = true, hasReceiver = true, readOnly = false } = options;
  const emulator = await startEmulator();
  const { push, publicUrl } = await startReceiver(emulator.authToken);
  if (hasWebhook) emulator.createWebhook({ webhook_url: publicUrl });
  const audits: AuditEntry[] = [];
  const app = express();
  const router = adminRouter({
    client: clientOf(emulator),
    authorize: (req) => req.headers.authorization === "Bearer hush-hush",
    actor: () => "deploy",
    onAudit: (entry) => void audits.push(entry),
    readOnly,
    ...(hasReceiver && { receiver: push }),
  });
  app.use("/admin/push", router);
  const adminUrl = `${await startTarget(app)}/admin/push/`;
  const rehearse = (header = HEADER, ...args: string[]) =>
    runCommand(["rehearse", "--admin-url", adminUrl, ...args], { PUSH_ADMIN_HEADER: header });
  return { rehearse, audits, adminUrl };
}

it.each<[hasWebhook: boolean, code: number, stdout: RegExp, auditCode: string | undefined]>([
  [
    true,
    0,
    /^ok      credentials  \d+ ms\n(?:.*\n)+skipped confirm\n  The receiver has no option(?:.*\n)+The user .* was \S+\.\n$/,
    undefined,
  ],
  [false, 1, /\nfailed  webhook .*\n  No Webhook .*\n  Create/, "REHEARSAL_FAILED"],
])("rehearse with a Webhook: %s ends with %i", async (hasWebhook, code, stdout, auditCode) => {
  const { rehearse, audits, adminUrl } = await start({ hasWebhook });
  expect(await rehearse()).toMatchObject({ code, stdout: expect.stringMatching(stdout) });
  const json = await rehearse(HEADER, "--json");
  expect(json.code).toBe(code);
  expect(JSON.parse(json.stdout)).toMatchObject({ isOk: hasWebhook, rows: expect.any(Array) });
  const entry = { action: "rehearsal.run", actor: "deploy", status: 200, code: auditCode };
  expect(audits).toEqual([entry, entry]);
  const { run, written } = startCommand(
    ["rehearse", "--admin-url", adminUrl],
    { PUSH_ADMIN_HEADER: HEADER },
    { isTTY: true },
  );
  await run;
  expect(written.stdout.includes(FAILED)).toBe(!hasWebhook);
  for (const one of [OK, SKIPPED]) expect(written.stdout).toContain(one);
});

it.each<[what: string, options: object, header: string, code: number, words: RegExp]>([
  ["a request that is not authorized", {}, "", 1, /403. FORBIDDEN/],
  ["a router without a receiver", { hasReceiver: false }, HEADER, 1, /404. NOT_FOUND/],
  ["a router that only reads", { readOnly: true }, HEADER, 1, /405. METHOD_NOT_ALLOWED/],
  ["a header that is none", {}, "hush-hush", 2, /PUSH_ADMIN_HEADER must be/],
])("rehearse fails for %s", async (_what, options, header, code, words) => {
  const { rehearse } = await start(options);
  const ended = await rehearse(header);
  expect(ended.code).toBe(code);
  expect(ended.stderr).toMatch(words);
  expect(ended.stderr).not.toContain("hush");
});

it("rehearse follows no redirect, which would receive its header", async () => {
  const seen: unknown[] = [];
  const url = await startTarget(({ url: path, headers }, res) => {
    seen.push([path, headers["x-admin"]]);
    if (path === "/hang/rehearsal") return command.interrupt();
    if (path === "/page/rehearsal") return res.end("<html>");
    res.writeHead(307, { Location: "/elsewhere" }).end();
  });
  const at = (path: string) =>
    startCommand(["rehearse", "--admin-url", url + path], { PUSH_ADMIN_HEADER: "X-Admin: hush" });
  const limit = jest.spyOn(AbortSignal, "timeout");
  expect(await at("/a//").run).toBe(1);
  expect(limit).toHaveBeenCalledWith(120_000);
  limit.mockRestore();
  const command = at("/hang");
  expect(await command.run).toBe(130);
  const page = at("/page");
  expect([await page.run, page.written.stderr]).toEqual([
    1,
    expect.stringMatching(/200\. No admin/),
  ]);
  const fetched = jest.spyOn(globalThis, "fetch").mockRejectedValue("down");
  const failed = at("/down");
  expect([await failed.run, failed.written.stderr]).toEqual([1, "push-webhooks: down\n"]);
  fetched.mockRestore();
  const paths = ["/a/rehearsal", "/hang/rehearsal", "/page/rehearsal"];
  expect(seen).toEqual(paths.map((path) => [path, "hush"]));
});
