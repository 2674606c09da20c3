/** Starts the example as README says, and ends when its page responds: `node .github/start.mjs`. */
import { spawn } from "node:child_process";

// A shell: on Windows npm is a script of cmd.exe.
const child = spawn("npm start", { shell: true, stdio: ["ignore", "pipe", "inherit"] });
child.once("exit", (code) => {
  throw new Error(`npm start ended with ${code}`);
});
let printed = "";
for await (const chunk of child.stdout) {
  process.stdout.write(chunk);
  printed += chunk;
  const [, url] = /^The login: +(\S+)/m.exec(printed) ?? [];
  const [, pid] = /"kill (\d+)"/.exec(printed) ?? [];
  if (url === undefined || pid === undefined) continue;
  const { status } = await fetch(url);
  console.log(`${url} responded ${status}`);
  process.kill(Number(pid));
  process.exit(status === 200 ? 0 : 1);
}
