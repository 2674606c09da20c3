/** A process with an app of each Express; headers of a request choose its wrapper and receiver. */
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

type Receiver = ReturnType<typeof createReceiver>;

async function start(): Promise<void> {
  const ports = APPS.map(async ([, makeApp]) => {
    const [{ push }, hurried] = [{}, { deadlineMs: 100 }].map((options) =>
      createReceiver({ dedupe: false, ...options }),
    ) as [Receiver, Receiver];
    const hurry: Middleware = (req, res, next) =>
      req.headers["x-hurried"] === undefined ? next() : hurried.push(req, res, next);
    const server = createServer(mount(makeApp(), push, [wrap, hurry]));
    await once(server.listen(0, "127.0.0.1"), "listening");
    return (server.address() as AddressInfo).port;
  });
  process.send?.(JSON.stringify(await Promise.all(ports)));
}

void start();
