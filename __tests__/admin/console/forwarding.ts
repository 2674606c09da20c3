/** A proxy before consoles. */
import { request } from "node:http";
import { startServer } from "../../support/servers";

/**
 * Starts a server that passes the requests for each path to the ports in turn, as a balancer does,
 * and may rewrite the path. The list of ports may change. Returns its own port.
 */
export async function startProxy(
  ports: readonly number[],
  rewrite: (path: string) => string = (path) => path,
): Promise<number> {
  const turns = new Map<string, number>();
  return startServer((req, res) => {
    const { method, headers, url = "" } = req;
    const [path = ""] = url.split("?", 1);
    const turn = turns.get(path) ?? 0;
    turns.set(path, turn + 1);
    const port = ports[turn % ports.length];
    const sent = request(
      { port, path: rewrite(url), method, headers, agent: false },
      (response) => {
        res.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(res);
      },
    );
    res.once("close", () => sent.destroy());
    sent.on("error", () => res.destroy());
    req.pipe(sent);
  });
}
