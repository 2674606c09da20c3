/** Serves a function of a platform over HTTP: passes requests on as the gateway of the platform does. */
const { createServer } = require("node:http");
const { buffer } = require("node:stream/consumers");

const [kind, file] = process.argv.slice(2);

const EVENTS = {
  http_api: ({ method, path, headers, body }) => ({
    version: "2.0",
    requestContext: { http: { method, path } },
    rawPath: path,
    rawQueryString: "",
    headers,
    body: body.toString("base64"),
    isBase64Encoded: true,
  }),
  rest_api: ({ method, path, headers, body }) => ({
    httpMethod: method,
    path,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, [v]])),
    body: body.toString("latin1"),
    isBase64Encoded: false,
  }),
  load_balancer: ({ method, path, headers, body }) => ({
    requestContext: { elb: { targetGroupArn: "arn" } },
    httpMethod: method,
    path,
    headers,
    body: body.length === 0 ? "" : body.toString("base64"),
    isBase64Encoded: body.length > 0,
  }),
};

async function call({ method, path, headers, body }) {
  if (kind !== "azure") {
    const { statusCode } = await require(file).handler(
      EVENTS[kind]({ method, path, headers, body }),
      {},
    );
    return statusCode;
  }
  const { HttpRequest } = require(require.resolve("@azure/functions", { paths: [file] }));
  const url = `https://function.example${path}`;
  const sent = body.length === 0 ? {} : { body: { bytes: body } };
  return (await require(file).receive(new HttpRequest({ method, url, headers, ...sent }))).status;
}

createServer((req, res) => {
  void buffer(req)
    .then((body) => call({ method: req.method, path: req.url, headers: req.headers, body }))
    .then((status) => res.writeHead(status).end());
}).listen(Number(process.env.PORT));
