/** The health route of docs/production.md, and the liveness probe of examples/deploy. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import express from "express";
import { findRecipe, readText } from "./support/docs";
import { startServer, stopServers } from "./support/servers";

const folder = join(__dirname, ".health-probes");
const [, probe = ""] = readText("examples/deploy/kubernetes.yaml").split("livenessProbe:");
const readNumber = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(probe)?.[1]);

afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(stopServers);

// A process whose event loop is blocked does not respond at all.
it.each([
  ["healthy", 200],
  ["degraded", 200],
  ["unhealthy", 503],
])("the route of the probe responds for a part that is %s: %i", async (status, expected) => {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "recipe.ts");
  writeFileSync(file, findRecipe("health"));
  type Recipe = { createHealthRoute(part: object): express.Router };
  const shown = { status, code: "STORE_UNAVAILABLE" };
  const health = async () => ({ ...shown, reason: "a text for the log" });
  const route = (require(file) as Recipe).createHealthRoute({ health });
  const path = /path: (\S+),/.exec(probe)?.[1] ?? "";
  const response = await fetch(
    `http://127.0.0.1:${await startServer(express().use(route))}${path}`,
  );
  expect(response.status).toBe(expected);
  expect(await response.json()).toEqual(shown);
});

it("the probe finds a worker that stopped within 30 s", () => {
  const detectedSeconds = 15;
  const seconds = readNumber("periodSeconds") + readNumber("timeoutSeconds");
  expect(detectedSeconds + readNumber("failureThreshold") * seconds).toBeLessThanOrEqual(30);
});
