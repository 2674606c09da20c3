/** Middlewares that replace methods of a request or a response, as apps mount them before a receiver. */
import { join } from "node:path";
import session from "express-session";
import type { Middleware } from "./servers";

/** A middleware, and whether it fails itself: the response may then be destroyed. */
export type Wrapper = readonly [name: string, middleware: Middleware, throws?: boolean];

type Factory = (...options: unknown[]) => Middleware;
const load = (name: string) => require(name) as Factory;

const sink = { write: () => true };

/** A store of sessions that saves nothing, later. */
class SlowStore extends session.Store {
  get = (_sid: string, callback: (error: unknown) => void) => setImmediate(callback, undefined);
  set = (_sid: string, _session: unknown, callback?: () => void) =>
    void setTimeout(() => callback?.(), 5);
  destroy = (_sid: string, callback?: () => void) => setImmediate(() => callback?.());
}

const sessionOf = (options: Partial<session.SessionOptions>): Middleware =>
  session({ secret: "a secret", ...options }) as unknown as Middleware;

const flags = [false, true];
const SESSIONS = flags.flatMap((saveUninitialized) =>
  flags.flatMap((resave) =>
    flags.map((rolling): Wrapper => {
      const options = { saveUninitialized, resave, rolling };
      return [`express-session ${JSON.stringify(options)}`, sessionOf(options)];
    }),
  ),
);

type Method = (...args: unknown[]) => unknown;
type Methods = Record<string, Method>;

/** Replaces a method of a response; `run` receives the original one. */
const replace =
  (method: string, run: (original: Method, ...args: unknown[]) => unknown): Middleware =>
  (_req, res, next) => {
    const methods = res as unknown as Methods;
    const original = methods[method]?.bind(res) as Method;
    methods[method] = (...args) => run(original, ...args);
    next();
  };

/** Keeps the body of each response, as the snippet does that is copied most often. */
const keepBody: Middleware = (_req, res, next) => {
  const [write, end] = [res.write.bind(res), res.end.bind(res)] as Method[];
  const chunks: Buffer[] = [];
  const methods = res as unknown as Methods;
  methods.write = (chunk, ...rest) => {
    chunks.push(Buffer.from(chunk as string));
    return write?.(chunk, ...rest);
  };
  methods.end = (chunk, ...rest) => {
    if (chunk) chunks.push(Buffer.from(chunk as string));
    Buffer.concat(chunks).toString("utf8");
    return end?.(chunk, ...rest);
  };
  next();
};

const takeOver: Middleware = (_req, res, next) => {
  const writeHead = res.writeHead.bind(res) as unknown as Method;
  (res as unknown as Methods).writeHead = (status) => {
    writeHead(status, { "content-length": "0" });
    res.end();
    return res;
  };
  next();
};

const fail = () => {
  throw new Error("A wrapper failed.");
};
const LIBRARY = join(__dirname, "..", "..", "lib");
const isCalledByLibrary = () =>
  new Error("caller").stack?.split("\n")[3]?.includes(LIBRARY) === true;

/** Throws when the receiver uses a member: those of Node.js itself would end any process. */
const throwing = (names: string): Wrapper[] =>
  names.split(" ").map((name) => [
    `throws in ${name}`,
    (req, res, next) => {
      const [of, member = ""] = name.split(".");
      const target: object = of === "req" ? req : res;
      let own: unknown = Object.hasOwn(target, member) ? Reflect.get(target, member) : undefined;
      const original = () =>
        own ?? (Reflect.get(Object.getPrototypeOf(target) as object, member, target) as unknown);
      Object.defineProperty(target, member, {
        get: () => (isCalledByLibrary() ? fail() : original()),
        set(value: unknown) {
          own = value;
        },
      });
      next();
    },
    true,
  ]);

/** Throws in one listener or timer: later than the middleware has returned. */
const throwingLater =
  (method: "write" | "end" | "destroy", times: number): Middleware =>
  (_req, res, next) => {
    const methods = res as unknown as Methods;
    const original = methods[method]?.bind(res) as Method;
    let count = 0;
    methods[method] = (...args) => (++count > times ? fail() : original(...args));
    next();
  };

const mutable = (name: string, options: object, change: (req: never) => void): Middleware => {
  const middleware = load(name)(options);
  return (req, res, next) =>
    middleware(req, res, (error) => {
      change(req as never);
      next(error);
    });
};

const stack =
  (...middlewares: Middleware[]): Middleware =>
  (req, res, next) => {
    const step = (index: number): void => {
      const middleware = middlewares[index];
      if (middleware === undefined) return next();
      void middleware(req, res, () => step(index + 1));
    };
    step(0);
  };

const POPULAR: Wrapper[] = [
  ["compression", load("compression")({ threshold: 0 })],
  ["morgan", load("morgan")("combined", { stream: sink })],
  ["morgan, immediate", load("morgan")("combined", { stream: sink, immediate: true })],
  ["response-time", load("response-time")()],
  [
    "cookie-session",
    mutable("cookie-session", { keys: ["k"] }, (req: { session: { n?: number } }) => {
      req.session.n = 1;
    }),
  ],
  ["helmet", load("helmet")({})],
];

export const WRAPPERS: readonly Wrapper[] = [
  ...SESSIONS,
  [
    "express-session, a slow store",
    sessionOf({ resave: true, saveUninitialized: true, store: new SlowStore() }),
  ],
  ...POPULAR,
  [
    "all of them",
    stack(
      ...POPULAR.map(([, middleware]) => middleware),
      sessionOf({ resave: true, saveUninitialized: true }),
    ),
  ],
  ["keeps the body", keepBody],
  ["counts statuses", replace("end", (end, chunk, encoding) => end(chunk, encoding))],
  ["ends later", replace("end", (end, ...args) => void setImmediate(end, ...args))],
  ["responds instead", takeOver, true],
  [
    "emits an error at its end",
    (_req, res, next) => {
      const end = res.end.bind(res) as unknown as Method;
      (res as unknown as Methods).end = (...args) => {
        end(...args);
        setImmediate(() => res.emit("error", new Error("A wrapper failed.")));
        return res;
      };
      next();
    },
    true,
  ],
  ...throwing("res.headersSent res.destroyed res.on res.writeHead res.write res.end res.destroy"),
  ...throwing(
    "req.headers req.on req.complete req.isPaused req.pause req.resume req.destroy req.socket",
  ),
  ["throws in the second write", throwingLater("write", 1), true],
  ["throws in the second end", throwingLater("end", 1), true],
  [
    "throws a value that is no Error",
    replace("end", () => {
      throw undefined;
    }),
    true,
  ],
];
