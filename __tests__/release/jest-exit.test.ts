import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { installPackage, linkPackages } from "../support/built-package";

const root = join(__dirname, "..", "..");
const run = promisify(execFile);
const NAME = "express-push-verification";
const jestProgram = join(root, "node_modules", "jest", "bin", "jest.js");
let app: string;

// A test of an app, which has this package as it is installed.
beforeAll(async () => {
  app = mkdtempSync(join(tmpdir(), "push-jest-"));
  await installPackage(app);
  linkPackages(app, ["express", "supertest"]);
  writeFileSync(join(app, "package.json"), "{}");
  writeFileSync(
    join(app, "app.test.js"),
    `const express = require("express");
    const supertest = require("supertest");
    const { pushWebhooks } = require("${NAME}");
    const { signedRequest } = require("${NAME}/testing");
    const options = { authToken: "token", publicUrl: "https://app.example.com/push" };
    const push = pushWebhooks(options).on("challenge.approved", () => {});
    afterEach(() => push.close());
    test("responds 200, and a login waits", async () => {
      const login = push.waitForChallenge({ challengeSid: "YC" + "0".repeat(32), entityIdentity: "u" });
      login.catch(() => {});
      const { path, headers, body } = signedRequest(options, "challenge.approved");
      const app = express().use("/push", push);
      await supertest(app).post(path).set(headers).send(body).expect(200);
      await supertest(app).post(path).set(headers).send("a=b").expect(403);
    });`,
  );
});

afterAll(() => rmSync(app, { recursive: true, force: true }));

it("Jest exits by itself after afterEach(() => push.close())", async () => {
  const args = [jestProgram, "--runInBand", "--rootDir", app];
  const ran = await run(process.execPath, args, { cwd: app, timeout: 40_000 });
  expect(ran.stderr).toContain("1 passed");
  expect(ran.stderr).not.toContain("did not exit");
});
