import { once } from "node:events";
import * as net from "node:net";
import * as tls from "node:tls";
import type { Redis } from "ioredis";

const PROBE_MS = 1_000;

/** Returns whether a connection failed because of TLS: this lasts until an operator changes something. */
export function isTlsCode(code: unknown): boolean {
  return /^(CERT|ERR_SSL|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME|EPROTO)/.test(
    String(code),
  );
}

/** Returns whether a server that accepts no connection expects TLS where the connection has none, or the reverse. */
export async function differsInTls({ options, isCluster }: Redis): Promise<boolean> {
  const { host, port, path } = options;
  if (isCluster || path !== undefined || port === undefined) return false;
  const hasTls = options.tls !== undefined;
  const probe = hasTls
    ? net.connect({ host, port })
    : tls.connect({ host, port, rejectUnauthorized: false });
  try {
    if (hasTls) probe.write("PING\r\n");
    await once(probe, hasTls ? "data" : "secureConnect", { signal: AbortSignal.timeout(PROBE_MS) });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Other alerts are those of a server that asks for a certificate.
    return !hasTls && code !== "ERR_SSL_WRONG_VERSION_NUMBER" && isTlsCode(code);
  } finally {
    probe.on("error", () => {}).destroy();
  }
}
