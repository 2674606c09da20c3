import type { RequestListener } from "node:http";
import express from "express";
import type { PushWebhooksOptions } from "express-push-verification";
import { createAdminClient, type AdminClientOptions } from "express-push-verification/admin";
import {
  createEmulator,
  type Emulator,
  type EmulatorOptions,
} from "express-push-verification/emulator";
import { createReceiver } from "./receivers";
import { startServer, stopServers } from "./servers";

const PATIENT_MS = 60_000;
const emulators: Emulator[] = [];

export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  // A process that stands still for seconds ends no delivery.
  const times = { connectTimeoutMs: PATIENT_MS, totalTimeoutMs: 2 * PATIENT_MS };
  const emulator = createEmulator({ ...times, ...options });
  emulators.push(emulator);
  await emulator.listen(0);
  return emulator;
}

export function clientOf(
  { accountSid, serviceSid, authToken, url }: Emulator,
  { at = url, ...options }: Partial<AdminClientOptions> & { at?: string } = {},
) {
  const urls = { accountUrl: at, verifyUrl: at };
  const settings = { ...urls, accountSid, serviceSid, password: authToken };
  return createAdminClient({ timeoutMs: PATIENT_MS, ...settings, ...options });
}

export const envOf = ({ authToken, url, accountSid, serviceSid }: Emulator) => ({
  PUSH_AUTH_TOKEN: authToken,
  PUSH_ACCOUNT_URL: url,
  PUSH_VERIFY_URL: url,
  PUSH_ACCOUNT_SID: accountSid,
  PUSH_SERVICE_SID: serviceSid,
});

/** A server that an emulator sends webhook requests to. */
export async function startTarget(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await startServer(listener)}`;
}

export async function startReceiver(
  authToken: string | string[],
  { query = "", ...options }: Partial<PushWebhooksOptions> & { query?: string } = {},
) {
  const app = express();
  const publicUrl = `${await startTarget(app)}/webhooks/push${query}`;
  const { push, events, rejected } = createReceiver({ authToken, publicUrl, ...options });
  app.use("/webhooks/push", push);
  return { push, publicUrl, events, rejected };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export async function stopEmulators(): Promise<void> {
  await Promise.all(emulators.splice(0).map((emulator) => emulator.close()));
  await stopServers();
}

export type Form = [name: string, value: string][] | Record<string, string>;

/** Calls an endpoint; by default with the account's own credentials. */
export async function callApi(
  emulator: Emulator,
  method: string,
  path: string,
  {
    form,
    json,
    as = [emulator.accountSid, emulator.authToken],
    ...sent
  }: { form?: Form; json?: unknown; as?: [string, string] | null } & RequestInit = {},
) {
  const body = json === undefined ? form && new URLSearchParams(form) : JSON.stringify(json);
  const response = await fetch(path.startsWith("http") ? path : emulator.url + path, {
    method,
    ...(body !== undefined && { body }),
    ...sent,
    headers: {
      ...(as !== null && { authorization: `Basic ${btoa(as.join(":"))}` }),
      ...(json !== undefined && { "content-type": "application/json" }),
      ...(sent.headers as object),
    },
  });
  const { status, headers } = response;
  const text = await response.text();
  return { status, headers, body: text === "" ? undefined : JSON.parse(text) };
}

export type ApiResult = Awaited<ReturnType<typeof callApi>>;

export const keysPath = ({ accountSid }: Emulator) => `/2010-04-01/Accounts/${accountSid}/Keys`;
export const webhooksPath = ({ serviceSid }: Emulator) => `/v2/Services/${serviceSid}/Webhooks`;
