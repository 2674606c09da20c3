"use strict";
/** Receivers that are written by hand, without this package. */
const { createHmac, timingSafeEqual } = require("node:crypto");
const querystring = require("node:querystring");

const HEADER = "x-service-signature";

function verifyByHand(req, params, { authToken, publicUrl }) {
  const given = Buffer.from(String(req.headers[HEADER]), "base64");
  const names = Object.keys(params).sort();
  const text = publicUrl + names.map((name) => name + params[name]).join("");
  const right = createHmac("sha1", authToken).update(text).digest();
  return given.length === right.length && timingSafeEqual(given, right);
}

function readBody(req, done) {
  const chunks = [];
  req.on("data", (chunk) => chunks.push(chunk));
  req.on("end", () => done(Buffer.concat(chunks).toString()));
}

/** Reads the body, and responds. */
const readOnly = () => (req, res) => readBody(req, () => res.writeHead(200).end());

/** As little as a receiver can do. */
function leastByHand(settings, onHandled) {
  return (req, res) =>
    readBody(req, (body) => {
      const params = querystring.parse(body);
      if (!verifyByHand(req, params, settings)) return res.writeHead(403).end();
      if (JSON.parse(params.challenge_details).message) onHandled();
      res.writeHead(200).end();
    });
}

/** As much as this package does: each field, all JSON, one run per uuid, outcomes. */
const JSON_PARAMETERS = [
  "factor_metadata",
  "challenge_details",
  "challenge_hidden_details",
  "challenge_metadata",
];
function allByHand(settings, onHandled, dist = `${__dirname}/../../dist`) {
  const { pushEventSchema } = require(`${dist}/core/event/schema.js`);
  const bodies = new Map();
  const sids = new Map();
  return (req, res) =>
    readBody(req, (body) => {
      const params = querystring.parse(body);
      if (!verifyByHand(req, params, settings)) return res.writeHead(403).end();
      const draft = { ...params, version: "v2", params: [], issues: [] };
      for (const name of JSON_PARAMETERS) draft[name] = JSON.parse(draft[name]);
      const { uuid, type, challenge_sid } = pushEventSchema.parse(draft);
      if (!bodies.has(uuid)) {
        bodies.set(uuid, body);
        sids.set(challenge_sid, uuid);
        if (type === "challenge.approved") onHandled();
      }
      // The response of this package, byte by byte.
      res.writeHead(200, { "Cache-Control": "no-store", "Content-Length": "0" }).end();
    });
}

module.exports = { allByHand, HEADER, leastByHand, readOnly };
