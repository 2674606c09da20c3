import { Option, type Command } from "commander";
import { isHostname } from "../kit/local-server";
import { isHttpUrl } from "../kit/url";

/** Mistake in the arguments or the environment; ends the program with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Creates an option that takes one of these values; without `byDefault`, it may be left out. */
export function choice(
  flags: string,
  what: string,
  values: readonly string[],
  byDefault?: string | readonly string[],
) {
  return new Option(flags, what).choices(values).default(byDefault);
}

/** Parses a header as for curl: `Name: value`; undefined for another text. */
export function parseHeader(line: string): [name: string, value: string] | undefined {
  const [, name, value = ""] = /^([\w-]+):\s*(.*)$/s.exec(line) ?? [];
  return name === undefined ? undefined : [name, value];
}

/** Asserts that an argument is an absolute http or https URL. @throws UsageError for any other. */
export function assertUrl(flag: string, url: string): void {
  if (isHttpUrl(url)) return;
  throw new UsageError(
    `${flag} must be an absolute http or https URL; received ${JSON.stringify(url)}.`,
  );
}

/** Where the server of a command listens, and the hosts that a request may name. */
export interface ServerOptions {
  port: number;
  host: string;
  allowedHost?: string[];
}

export function addServerOptions(command: Command, defaultPort: number): Command {
  return command
    .option("--port <port>", "port to listen on; 0 selects a free one", readPort, defaultPort)
    .option(
      "--host <address>",
      "address to listen on; 0.0.0.0 for all of this machine",
      "127.0.0.1",
    )
    .option(
      "--allowed-host <names...>",
      "names at which others reach it, beside addresses and localhost",
      readHostname,
    );
}

function readHostname(text: string, names: string[] = []): string[] {
  if (isHostname(text)) return [...names, text];
  throw new UsageError(
    `--allowed-host must be a host name without scheme and port; received ${JSON.stringify(text)}.`,
  );
}

function readPort(text: string): number {
  if (/^\d+$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(
    `--port must be a number from 0 to 65535; received ${JSON.stringify(text)}.`,
  );
}
