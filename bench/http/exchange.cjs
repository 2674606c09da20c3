"use strict";
/** Requests and responses as `node:http` makes them, without a socket that sends anything. */
const http = require("node:http");
const { Socket } = require("node:net");

const socket = new Socket();

/** A POST of a form, whose body is complete. */
function makeExchange({ signature, bytes }) {
  const req = new http.IncomingMessage(socket);
  const headers = {
    host: "hooks.example.test",
    "user-agent": "bench",
    accept: "*/*",
    "content-type": "application/x-www-form-urlencoded",
    "content-length": String(bytes.length),
    "x-service-signature": signature,
  };
  Object.assign(req, { method: "POST", url: "/push", httpVersionMajor: 1, httpVersionMinor: 1 });
  Object.assign(req, { headers, rawHeaders: Object.entries(headers).flat() });
  req.push(Buffer.from(bytes));
  req.push(null);
  req.complete = true;
  return { req, res: new http.ServerResponse(req) };
}

module.exports = { makeExchange };
