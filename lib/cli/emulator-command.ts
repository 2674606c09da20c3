import { once } from "node:events";
import type { Command } from "commander";
import {
  AS_PUBLIC_SERVICE,
  createEmulator,
  sendRequest,
  type Emulator,
  type WebhookDelivery,
} from "../emulator";
import { print, printJson, printNote, printPainted, type Terminal } from "./terminal";
import { signRequest } from "../core/door";
import { addSignatureHeader, readVariable } from "./environment";
import { explainForbidden, isOfReceiver } from "./rejected-request";
import { addServerOptions, assertUrl, choice, type ServerOptions } from "./arguments";

interface RunOptions extends ServerOptions {
  webhookUrl?: string[];
  asPublicService?: boolean;
  contentType?: string;
  signatureHeader: string;
  version: "v1" | "v2";
  json?: boolean;
}

/** Adds `emulator`, which runs the emulated service until a signal. */
export function addEmulatorCommand(program: Command, terminal: Terminal): void {
  const command = addServerOptions(program.command("emulator"), 4010);
  addSignatureHeader(command, terminal)
    .description("run the emulated service and print each delivery")
    .option("--webhook-url <url...>", "URLs of receivers, each for all events")
    .addOption(choice("--version <version>", "version of the events", ["v1", "v2"], "v2"))
    .option("--content-type <type>", "content type of deliveries by POST")
    .option(
      "--as-public-service",
      "sign, encode and check identities as the public service does, unless another option says more",
    )
    .option("--json", "print lines of JSON: the credentials, then each delivery")
    .action(async (options: RunOptions) => {
      const { port, host, webhookUrl = [], contentType, version, json } = options;
      const isNamed = command.getOptionValueSource("signatureHeader") === "cli";
      const isSet = readVariable(terminal, "PUSH_SIGNATURE_HEADER") !== "";
      for (const url of webhookUrl) assertUrl("--webhook-url", url);
      const authToken = readVariable(terminal, "PUSH_AUTH_TOKEN");
      const emulator = createEmulator({
        ...(options.asPublicService === true && AS_PUBLIC_SERVICE),
        allowedHosts: options.allowedHost,
        ...((isNamed || isSet) && { signatureHeader: options.signatureHeader }),
        ...(contentType !== undefined && { contentType }),
        webhooks: webhookUrl.map((webhook_url) => ({ webhook_url, version })),
        authToken: authToken || undefined,
        accountSid: readVariable(terminal, "PUSH_ACCOUNT_SID") || undefined,
        serviceSid: readVariable(terminal, "PUSH_SERVICE_SID") || undefined,
      });
      const explained = new Set<string>();
      emulator.onDelivery((delivery) => {
        if (json === true) printJson(terminal, delivery, 0);
        else printDelivery(terminal, delivery);
        void explainDelivery(terminal, emulator, delivery, explained);
      });
      await emulator.listen(port, host).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EADDRINUSE") throw error;
        throw new Error(`Port ${port} is in use. Pass another with --port.`);
      });
      const settings = {
        PUSH_ACCOUNT_URL: emulator.url,
        PUSH_VERIFY_URL: emulator.url,
        PUSH_ACCOUNT_SID: emulator.accountSid,
        PUSH_SERVICE_SID: emulator.serviceSid,
        // Print a generated token only: it protects nothing but this emulator.
        ...(authToken === "" && { PUSH_AUTH_TOKEN: emulator.authToken }),
      };
      if (authToken !== "") {
        printNote(
          terminal,
          "The emulator signs with PUSH_AUTH_TOKEN of the environment. It does not print this token; your app needs the same one.",
        );
      }
      if (json === true) {
        printJson(terminal, settings, 0);
      } else {
        // A file for node --env-file.
        for (const pair of Object.entries(settings)) print(terminal, pair.join("="));
        const example = `POST ${emulator.url}/_control/factors, as PUSH_ACCOUNT_SID with PUSH_AUTH_TOKEN`;
        printPainted(terminal, "dim", `# Create a factor: ${example}`);
      }
      if (!terminal.signal.aborted) await once(terminal.signal, "abort");
      await emulator.close();
    });
}

/** Says, once for each URL, why its receiver responded 403. */
async function explainDelivery(
  terminal: Terminal,
  { authToken, signatureHeader }: Emulator,
  { request, response, faults }: WebhookDelivery,
  explained: Set<string>,
): Promise<void> {
  const { url, method, headers, params } = request;
  if (response?.status !== 403 || !isOfReceiver(response) || explained.has(url)) return;
  explained.add(url);
  const contentType = headers["Content-Type"] ?? "";
  const probed = params.filter(([name]) => name !== "uuid");
  const probe = (name: string) => {
    const common = { authToken, webhookUrl: url, method, contentType, params: probed };
    return sendRequest(signRequest({ ...common, signatureHeader: name }));
  };
  const isProbed = faults.length === 0;
  const sender = { signatureHeader, urlFlag: "--webhook-url", probe: isProbed ? probe : undefined };
  printNote(terminal, await explainForbidden(sender));
}

function printDelivery(terminal: Terminal, delivery: WebhookDelivery): void {
  const { type, status, request, response, attempts, failures, durationMs } = delivery;
  const outcome = response === undefined ? (failures.at(-1)?.code ?? "failed") : response.status;
  const tries = attempts > 1 ? `, ${attempts} attempts` : "";
  const url = request.url.replace(/\?.*$/s, "");
  const rest = ` ${type} -> ${url} in ${(durationMs ?? 0).toFixed(1)} ms${tries}`;
  printPainted(terminal, status === "succeeded" ? "green" : "red", String(outcome), rest);
}
