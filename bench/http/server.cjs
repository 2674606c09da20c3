"use strict";
/** One contestant in a process of its own; says its port, and its CPU time when asked. */
const http = require("node:http");
const { setFlagsFromString } = require("node:v8");
const { runInNewContext } = require("node:vm");
const express = require("express");
const { z } = require("zod");
const { allByHand, HEADER, leastByHand, readOnly } = require("./by-hand.cjs");

const { CONTESTANT, MODE, AUTH_TOKEN: authToken, PUBLIC_URL: publicUrl } = process.env;
const DIST = process.env.DIST ?? `${__dirname}/../../dist`;
const settings = { authToken, publicUrl };

const loadTwilio = () => require(require.resolve("twilio", { paths: [`${__dirname}/..`] }));

/** Code that users of the SDK write by hand. */
const eventSchema = z.object({
  uuid: z.string(),
  type: z.enum([
    "factor.created",
    "factor.verified",
    "factor.deleted",
    "challenge.approved",
    "challenge.denied",
  ]),
  account_sid: z.string().regex(/^AC[0-9a-fA-F]{32}$/),
  service_sid: z.string().regex(/^VA[0-9a-fA-F]{32}$/),
  entity_identity: z.string(),
  factor_sid: z.string(),
  challenge_sid: z.string().optional(),
  challenge_details: z.string().optional(),
});
let handled = 0;
const onHandled = () => void handled++;
function handleByHand(params) {
  const event = eventSchema.parse(params);
  const details =
    event.challenge_details === undefined ? undefined : JSON.parse(event.challenge_details);
  switch (event.type) {
    case "challenge.approved":
      if (details !== undefined) handled++;
      break;
    default:
      handled--;
  }
}

function expressWith(...middlewares) {
  const app = express();
  app.disable("x-powered-by");
  app.use("/push", ...middlewares);
  return app;
}

const sdk = () => {
  const { validateRequest } = loadTwilio();
  return (req, res, next) => {
    if (!validateRequest(authToken, req.get(HEADER), publicUrl, req.body))
      return res.sendStatus(403);
    next();
  };
};
const ok = (_req, res) => res.status(200).end();
function ours(options = {}) {
  const { pushWebhooks } = require(DIST);
  const push = pushWebhooks({ authToken, publicUrl, ...options });
  push.on("challenge.approved", () => void handled++);
  push.onRejected(() => {});
  return push;
}

const CONTESTANTS = {
  a: readOnly,
  b: () => leastByHand(settings, onHandled),
  c: () => expressWith(express.urlencoded({ extended: false }), ok),
  d: () => expressWith(express.urlencoded({ extended: false }), sdk(), ok),
  e: () =>
    expressWith(express.urlencoded({ extended: false }), sdk(), (req, res) => {
      handleByHand(req.body);
      res.status(200).end();
    }),
  f: () => expressWith(ours()),
  k: () => expressWith(ours({ dedupe: false })),
  g: () => {
    const push = ours();
    return (req, res) => push(req, res);
  },
  j: () => {
    const push = ours();
    const app = expressWith(ok);
    return (req, res) => (req.url.startsWith("/push") ? push(req, res) : app(req, res));
  },
  console: () => {
    const { adminRouter, createAdminClient } = require(`${DIST}/admin`);
    const push = ours();
    const app = expressWith(push);
    const [zeros, unused] = ["0".repeat(32), "http://127.0.0.1:9"];
    const client = createAdminClient({
      accountUrl: unused,
      verifyUrl: unused,
      accountSid: `AC${zeros}`,
      serviceSid: `VA${zeros}`,
      password: "unused",
    });
    const authorize = () => true;
    app.use("/admin", adminRouter({ client, authorize, console: true, receiver: push }));
    return app;
  },
  h: () => allByHand(settings, onHandled, DIST),
  i: () => expressWith(allByHand(settings, onHandled, DIST)),
  l: () => expressWith(leastByHand(settings, onHandled)),
  // Reads on until the sender has read the response: otherwise the reset loses it.
  reject: () => (req, res) => {
    res.writeHead(413, { Connection: "close", "Content-Length": 0 }).flushHeaders();
    req.resume().once("close", () => res.end());
  },
};

/** Request and response classes that have the app's prototypes already, so Express sets none. */
function fastClasses(app) {
  function IncomingMessage(socket) {
    http.IncomingMessage.call(this, socket);
  }
  function ServerResponse(req, options) {
    http.ServerResponse.call(this, req, options);
  }
  IncomingMessage.prototype = app.request;
  ServerResponse.prototype = app.response;
  return { IncomingMessage, ServerResponse };
}

const listener = CONTESTANTS[CONTESTANT]();
const isFast = MODE === "fast" && listener.request !== undefined;
const server = http.createServer(isFast ? fastClasses(listener) : {}, listener);
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
process.once("SIGTERM", () => process.exit(0));
process.on("message", (message) => {
  if (message === "collect") collectGarbage();
  const { user, system } = process.cpuUsage();
  const { rss, heapTotal, heapUsed } = process.memoryUsage();
  process.send({ cpuMicros: user + system, rss, heapTotal, heapUsed });
});

function collectGarbage() {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}
