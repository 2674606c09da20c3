import { dirname, join } from "node:path";

/**
 * Returns npm with arguments, for `spawn` and `execFile`: on Windows `npm` is a script of cmd.exe,
 * which they do not start without a shell.
 */
export function npm(...args: string[]): [file: string, args: string[]] {
  if (process.platform !== "win32") return ["npm", args];
  const beside = join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js");
  // npm tells its scripts where it is.
  return [process.execPath, [process.env.npm_execpath ?? beside, ...args]];
}
