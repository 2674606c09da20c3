import { scripts } from "../../package.json";

/** One command that sh, cmd.exe and PowerShell read alike: a program and plain words. */
const PLAIN =
  /^(?:npm|npx|node|tsx|jest|tsc|esbuild|prettier|oxlint|publint|attw)(?: (?!\S*\.bin\/)[\w@.,/:=-]+)*$/;

/** Finds scripts of package.json that need a certain shell. */
export function checkScripts(): string[] {
  return Object.entries(scripts)
    .filter(([, script]) => !script.split(" && ").every((command) => PLAIN.test(command)))
    .map(([name]) => `package.json: script ${name} needs a shell; make it a file of Node.js`);
}
