"use strict";
/** The bytes of requests, good and bad, as a client puts them on a socket. */
const { randomBytes, randomUUID } = require("node:crypto");
const { signedRequest } = require("../../dist/testing");

const AUTH_TOKEN = "4f1d9a70c2b84e6f9b3350e1d7a6c815";
const PUBLIC_URL = "https://hooks.example.test/push";
const SIGNATURE_HEADER = "x-service-signature";
const CONTENT_TYPE = "application/x-www-form-urlencoded";
const DETAILS = {
  message: "Approve the payment of 250 €?",
  date: "2024-03-05T10:20:30Z",
  fields: Array.from({ length: 5 }, (_, index) => ({
    label: `Label ${index}`,
    value: `Value ${index} & more`,
  })),
};

/** A signed v2 challenge.approved of about 1 kB, with other fields, and any parameters beside it. */
function signRequest(extraParams = {}, fields = {}) {
  const sids = { uuid: randomUUID(), challenge_sid: `YC${randomBytes(16).toString("hex")}` };
  const { headers, body } = signedRequest(
    { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL },
    "challenge.approved",
    { ...sids, challenge_details: DETAILS, ...fields },
    { contentType: CONTENT_TYPE, extraParams },
  );
  return { signature: headers["X-Service-Signature"], body };
}

/**
 * The bytes of a request; no signature header where `signature` is undefined.
 *
 * @param {{ signature?: string, body: string, length?: number | "chunked" }} request
 */
function frameRequest({ signature, body, length = Buffer.byteLength(body) }) {
  const lines = [
    "POST /push HTTP/1.1",
    "host: hooks.example.test",
    "user-agent: bench",
    "accept: */*",
    `content-type: ${CONTENT_TYPE}`,
    length === "chunked" ? "transfer-encoding: chunked" : `content-length: ${length}`,
  ];
  if (signature !== undefined) lines.push(`${SIGNATURE_HEADER}: ${signature}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** A good request that is signed anew each time. */
const makeGoodRequest = () => frameRequest(signRequest());

/** The same of a user of its own. */
const makeRequestOfUser = () => frameRequest(signRequest({}, { entity_identity: randomUUID() }));

const WRONG_SIGNATURE = "spltyRVLIB+qQr/llzKRKlLsVRc=";

/** Requests of unauthenticated clients, and the status of the right response. */
const REJECTED = {
  "bad signature": [403, () => frameRequest({ ...signRequest(), signature: WRONG_SIGNATURE })],
  "no signature": [403, () => frameRequest({ ...signRequest(), signature: undefined })],
  "malformed signature": [403, () => frameRequest({ ...signRequest(), signature: "x" })],
  "announced oversize": [
    413,
    () => frameRequest({ signature: WRONG_SIGNATURE, body: "", length: 1e7 }),
  ],
  "900 broken escapes": [
    400,
    () => frameRequest({ signature: WRONG_SIGNATURE, body: "a=%zz&".repeat(900) }),
  ],
  "900 equal names": [
    403,
    () => frameRequest({ signature: WRONG_SIGNATURE, body: "a=1&".repeat(900) }),
  ],
};

module.exports = {
  AUTH_TOKEN,
  frameRequest,
  makeGoodRequest,
  makeRequestOfUser,
  PUBLIC_URL,
  REJECTED,
  signRequest,
  WRONG_SIGNATURE,
};
