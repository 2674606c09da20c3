import { dirname, join } from "node:path";

/** Returns npm with arguments: on Windows it is a script of cmd.exe, which `spawn` does not start. */
export function npm(...args: string[]): [file: string, args: string[]] {
  if (process.platform !== "win32") return ["npm", args];
  const beside = join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js");
  // npm tells its scripts where it is.
  return [process.execPath, [process.env.npm_execpath ?? beside, ...args]];
}
