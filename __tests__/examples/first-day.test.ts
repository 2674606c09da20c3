/**
 * The first day at the real service: an app that was tested with the emulator meets a service with
 * another signature header, content type, token and rule for identities. Only its environment changes.
 */
import { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AS_PUBLIC_SERVICE, type EmulatorOptions } from "express-push-verification/emulator";
import { envOf, startEmulator, stopEmulators } from "../support/emulators";
import { findFreePort } from "../support/ports";
import { runCommand } from "../support/terminals";
import { useWarnings } from "../support/warnings";

const warnings = useWarnings();
const IDENTITY = "user-5e81-07";
const servers: Server[] = [];
const { env } = process;

beforeEach(() => {
  process.env = { ...env };
  const { listen } = Server.prototype;
  jest.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server, ...args) {
    servers.push(this);
    return listen.apply(this, args);
  });
  for (const method of ["log", "warn"] as const) {
    jest.spyOn(console, method).mockImplementation(() => {});
  }
});

afterEach(async () => {
  process.env = env;
  jest.restoreAllMocks();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK"])
    process.removeAllListeners(signal);
  process.removeAllListeners("message");
  for (const server of servers.splice(0)) server.closeAllConnections();
  await stopEmulators();
});

/** Runs README's listing against a service, and lets a phone approve a challenge. */
async function runDay(options: EmulatorOptions) {
  const PORT = String(await findFreePort());
  const publicUrl = `http://127.0.0.1:${PORT}/webhooks/push`;
  const service = await startEmulator({ ...options, webhooks: [{ webhook_url: publicUrl }] });
  const settings = { ...envOf(service), PUSH_PUBLIC_URL: publicUrl, PORT };
  Object.assign(process.env, settings);
  jest.isolateModules(() => void require("../../examples/receive"));
  const { sid: factor_sid } = service.createFactor({ entity_identity: IDENTITY });
  service.verifyFactor(factor_sid);
  const { sid } = service.createChallenge({ factor_sid });
  service.approveChallenge(sid);
  await service.settled();
  const check = await runCommand(["webhooks", "check", "--url", publicUrl], settings);
  const app = servers.find((one) => (one.address() as AddressInfo | null)?.port === Number(PORT));
  app?.close();
  return { service, check, statuses: service.deliveries.map(({ response }) => response?.status) };
}

it("needs other variables only: green with the emulator is green at the service", async () => {
  const days = [
    await runDay({}),
    await runDay({ ...AS_PUBLIC_SERVICE, authToken: "9".repeat(32) }),
  ];
  for (const { check, statuses } of days) {
    expect(statuses).toEqual([200, 200, 200]);
    expect(check).toMatchObject({ code: 0, stdout: "No configuration drift.\n" });
  }
  const [emulator, service] = days.map((day) => day.service);
  expect(service?.authToken).not.toBe(emulator?.authToken);
  expect(service?.signatureHeader).not.toBe(emulator?.signatureHeader);
  expect(jest.mocked(console.log)).toHaveBeenCalledTimes(6);
  expect(jest.mocked(console.warn)).not.toHaveBeenCalled();
  expect(warnings.listCodes()).toEqual([]);
});
