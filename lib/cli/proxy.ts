import http from "node:http";
import { ApiError } from "../admin";
import { printNote, type Terminal } from "./terminal";

const VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/** Node.js 24.14 and later. */
interface ProxySupport {
  setGlobalProxyFromEnv?: (env: NodeJS.ProcessEnv) => () => void;
}

/**
 * Runs a function whose requests use the proxy of the environment, if this Node.js can. When the
 * service cannot be reached without that proxy, says so on stderr.
 */
export async function withProxy(terminal: Terminal, run: () => Promise<void>): Promise<void> {
  const { env } = terminal;
  const variable = VARIABLES.find((name) => (env[name] ?? "") !== "");
  const isSupported = process.allowedNodeEnvironmentFlags.has("--use-env-proxy");
  // Node.js itself uses the proxy then.
  if (variable === undefined || (isSupported && env.NODE_USE_ENV_PROXY === "1")) return run();
  const restore = (http as ProxySupport).setGlobalProxyFromEnv?.(env);
  try {
    await run();
  } catch (error) {
    if (restore === undefined && error instanceof ApiError && error.status === 0) {
      const command = isSupported ? "Set NODE_USE_ENV_PROXY=1" : "Use Node.js 24 or later";
      printNote(terminal, `${variable} was not used. ${command} to use the proxy.`);
    }
    throw error;
  } finally {
    restore?.();
  }
}
