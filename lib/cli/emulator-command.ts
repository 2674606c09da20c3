import { Option, type Command } from "commander";
import { createEmulator, type Delivery } from "../emulator";
import { isHttpUrl } from "../url";
import { paint, print, UsageError, type Terminal } from "./terminal";

interface RunOptions {
  port: number;
  webhookUrl: string[];
  signatureHeader: string;
  version: "v1" | "v2";
  json?: boolean;
}

/** Adds `emulator`, which runs the service until it is told to stop. */
export function addEmulatorCommand(program: Command, terminal: Terminal): void {
  program
    .command("emulator")
    .description("run the service here, and print every delivery")
    .option("--port <port>", "where to listen", readPort, 4010)
    .option("--webhook-url <url...>", "receivers to call for every event", [])
    .option("--signature-header <name>", "the header to sign in", "X-Service-Signature")
    .addOption(
      new Option("--version <version>", "of the calls").choices(["v1", "v2"]).default("v2"),
    )
    .option("--json", "a line of JSON for the credentials and for each delivery")
    .action(async ({ port, webhookUrl, signatureHeader, version, json }: RunOptions) => {
      const wrong = webhookUrl.find((url) => !isHttpUrl(url));
      if (wrong !== undefined) {
        throw new UsageError(
          `--webhook-url takes absolute http or https URLs, got ${JSON.stringify(wrong)}.`,
        );
      }
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
        const line = json === true ? JSON.stringify(delivery) : describe(terminal, delivery);
        print(terminal, line);
      });
      await emulator.listen(port).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EADDRINUSE") throw error;
        throw new Error(`The port ${port} is in use: choose another with --port.`);
      });
      const settings = {
        PUSH_ACCOUNT_URL: emulator.url,
        PUSH_VERIFY_URL: emulator.url,
        PUSH_ACCOUNT_SID: emulator.accountSid,
        PUSH_SERVICE_SID: emulator.serviceSid,
        // One that was made here guards nothing but this emulator; another is known already.
        ...(authToken === "" && { PUSH_AUTH_TOKEN: emulator.authToken }),
      };
      if (json === true) {
        print(terminal, JSON.stringify(settings));
      } else {
        for (const pair of Object.entries(settings)) print(terminal, `export ${pair.join("=")}`);
        const example = `curl -u "$PUSH_ACCOUNT_SID:$PUSH_AUTH_TOKEN" -X POST ${emulator.url}/_control/factors`;
        print(terminal, paint(terminal, "dim", `Create a factor: ${example}`));
      }
      await ended(terminal.signal);
      await emulator.close();
    });
}

function describe(terminal: Terminal, delivery: Delivery): string {
  const { type, request, response, attempts, failures, durationMs } = delivery;
  const isGood = delivery.status === "succeeded";
  const outcome = response === undefined ? (failures.at(-1)?.code ?? "failed") : response.status;
  const tries = attempts > 1 ? `, ${attempts} attempts` : "";
  const url = request.url.replace(/\?.*$/s, "");
  const shown = paint(terminal, isGood ? "green" : "red", String(outcome));
  return `${shown} ${type} -> ${url} in ${(durationMs ?? 0).toFixed(1)} ms${tries}`;
}

function readPort(text: string): number {
  if (/^\d+$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--port takes a number from 0 to 65535, got ${JSON.stringify(text)}.`);
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}
