/** A process with an app of each Express: the header `x-wrapper` of a request chooses its wrapper. */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createReceiver } from "./receivers";
import { WRAPPERS } from "./response-wrappers";
import { APPS, mount, type Middleware } from "./servers";

// An uncaught exception would end a process without this listener.
for (const event of ["uncaughtException", "unhandledRejection"])
  process.on(event, (error: unknown) => process.send?.(`${event} ${String(error)}`));

const wrap: Middleware = (req, res, next) => {
  const [, middleware] = WRAPPERS[Number(req.headers["x-wrapper"])] ?? [];
  if (middleware === undefined) next();
  else void middleware(req, res, next);
};

async function start(): Promise<void> {
  const ports = APPS.map(async ([, makeApp]) => {
    const { push } = createReceiver({ deadlineMs: 100, dedupe: false });
    const server = createServer(mount(makeApp(), push, [wrap]));
    await once(server.listen(0, "127.0.0.1"), "listening");
    return (server.address() as AddressInfo).port;
  });
  process.send?.(JSON.stringify(await Promise.all(ports)));
}

void start();
