/** The nginx of examples/deploy in front of two processes of an app. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readText } from "./docs";
import { needs } from "./needs";
import { findFreePort, untilListening } from "./ports";
import { describeWithRedis } from "./redis";

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
const isMissing = spawnSync("nginx", ["-v"], { env }).status !== 0;

export const describeWithNginx = isMissing
  ? needs(false, "nginx on the PATH (Debian: apt-get install nginx)").describe
  : describeWithRedis;

const running: { nginx: ChildProcess; folder: string }[] = [];

/**
 * Starts nginx with the file of the example; {@link stopNginx} stops it.
 *
 * @param ports those of the two processes.
 * @param zone is added before the servers, and `directive` to the location of the receiver.
 */
export async function startNginx(
  ports: readonly number[],
  { zone = "", directive = "" }: { zone?: string | undefined; directive?: string | undefined } = {},
): Promise<number> {
  const listening = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), "push-nginx-"));
  const server = `${zone}\n${readText("examples/deploy/nginx.conf")}`
    .replace("listen 80;", `listen 127.0.0.1:${listening};`)
    .replace("127.0.0.1:3000", `127.0.0.1:${ports[0]}`)
    .replace("127.0.0.1:3001", `127.0.0.1:${ports[1]}`)
    .replace("proxy_cache off;", `proxy_cache off; ${directive}`);
  const bodies = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join("\n");
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
    events {} http { access_log off; ${bodies} ${server} }`,
  );
  const args = ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")];
  running.push({ nginx: spawn("nginx", args, { env, stdio: "ignore" }), folder });
  await untilListening(listening);
  return listening;
}

export async function stopNginx(): Promise<void> {
  for (const { nginx, folder } of running.splice(0)) {
    if (nginx.kill("SIGTERM")) await once(nginx, "exit");
    rmSync(folder, { recursive: true, force: true });
  }
}
