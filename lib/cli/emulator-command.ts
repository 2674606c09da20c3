import { once } from "node:events";
import type { Command } from "commander";
import { createEmulator, type WebhookDelivery } from "../emulator";
import { paint, print, printJson, type Terminal } from "./terminal";
import { assertUrl, choice, readPort } from "./arguments";

interface RunOptions {
  port: number;
  webhookUrl?: string[];
  signatureHeader: string;
  version: "v1" | "v2";
  json?: boolean;
}

/** Adds `emulator`, which runs the emulated service until SIGINT or SIGTERM. */
export function addEmulatorCommand(program: Command, terminal: Terminal): void {
  program
    .command("emulator")
    .description("run the emulated service and print each delivery")
    .option("--port <port>", "port to listen on; 0 selects a free one", readPort, 4010)
    .option("--webhook-url <url...>", "URLs of receivers, each for all events")
    .option("--signature-header <name>", "name of the signature header", "X-Service-Signature")
    .addOption(choice("--version <version>", "version of the events", ["v1", "v2"], "v2"))
    .option("--json", "print lines of JSON: the credentials, then each delivery")
    .action(async ({ port, webhookUrl = [], signatureHeader, version, json }: RunOptions) => {
      for (const url of webhookUrl) assertUrl("--webhook-url", url);
      const { PUSH_AUTH_TOKEN: authToken = "", PUSH_ACCOUNT_SID: accountSid = "" } = terminal.env;
      const { PUSH_SERVICE_SID: serviceSid = "" } = terminal.env;
      const emulator = createEmulator({
        signatureHeader,
        webhooks: webhookUrl.map((webhook_url) => ({ webhook_url, version })),
        ...(authToken !== "" && { authToken }),
        ...(accountSid !== "" && { accountSid }),
        ...(serviceSid !== "" && { serviceSid }),
      });
      emulator.onDelivery((delivery) => {
        if (json === true) printJson(terminal, delivery, 0);
        else print(terminal, describeDelivery(terminal, delivery));
      });
      await emulator.listen(port).catch((error: NodeJS.ErrnoException) => {
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
        terminal.stderr.write(
          "The emulator signs with PUSH_AUTH_TOKEN of the environment. It does not print this token; your app needs the same one.\n",
        );
      }
      if (json === true) {
        printJson(terminal, settings, 0);
      } else {
        for (const pair of Object.entries(settings)) print(terminal, `export ${pair.join("=")}`);
        const example = `curl -u "$PUSH_ACCOUNT_SID:$PUSH_AUTH_TOKEN" -X POST ${emulator.url}/_control/factors`;
        print(terminal, paint(terminal, "dim", `Create a factor: ${example}`));
      }
      if (!terminal.signal.aborted) await once(terminal.signal, "abort");
      await emulator.close();
    });
}

function describeDelivery(terminal: Terminal, delivery: WebhookDelivery): string {
  const { type, status, request, response, attempts, failures, durationMs } = delivery;
  const outcome = response === undefined ? (failures.at(-1)?.code ?? "failed") : response.status;
  const tries = attempts > 1 ? `, ${attempts} attempts` : "";
  const url = request.url.replace(/\?.*$/s, "");
  const shown = paint(terminal, status === "succeeded" ? "green" : "red", String(outcome));
  return `${shown} ${type} -> ${url} in ${(durationMs ?? 0).toFixed(1)} ms${tries}`;
}
