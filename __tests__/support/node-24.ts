import { execFileSync } from "node:child_process";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { scripts } from "../../package.json";
import { needs } from "./needs";
import { npm } from "./npm";

const WHAT = "Node.js 22.13 or newer, or npm that installs it (npx -y node@24)";
const DOWNLOAD_LIMIT_MS = 600_000;

export const itWithSqlite = (node: string | undefined) => needs(node !== undefined, WHAT).it;

/**
 * Finds a Node.js that has node:sqlite: this one, or that of the npm package `node`. `suites.ts` finds
 * it for all processes of a run, because those that install it at the same time disturb each other.
 */
export function findNodeWithSqlite(): string | undefined {
  if (isBuiltin("node:sqlite")) return process.execPath;
  const { PUSH_TEST_NODE_24: found } = process.env;
  if (found !== undefined) return found === "" ? undefined : found;
  const [version = ""] = /node@\S+/.exec(scripts.node24) ?? [];
  const command = npm("exec", "--yes", "--", version, "-p", "process.execPath");
  try {
    // Beside a package.json npx would look at that package first.
    const options = { cwd: tmpdir(), timeout: DOWNLOAD_LIMIT_MS, encoding: "utf8" } as const;
    return execFileSync(...command, { ...options, stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}
