import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
push.on("challenge.approved", (event) => console.log(event.challenge_sid));

interface FunctionEvent {
  // An HTTP API, or a function URL.
  requestContext?: { http?: { method: string } };
  rawPath?: string;
  // A REST API, or a load balancer; only they may have lists of values.
  httpMethod?: string;
  path?: string;
  multiValueHeaders?: Record<string, string[]> | null;
  // All of them.
  headers?: Record<string, string> | null;
  body?: string | null;
  isBase64Encoded?: boolean;
}

export async function handler(event: FunctionEvent) {
  const { httpMethod, requestContext, rawPath, path = "/", body, isBase64Encoded } = event;
  const method = httpMethod ?? requestContext?.http?.method ?? "POST";
  const headers = new Headers();
  for (const [name, values] of Object.entries(event.multiValueHeaders ?? event.headers ?? {})) {
    for (const value of [values].flat()) headers.append(name, value);
  }
  const init: RequestInit = { method, headers };
  if (method === "POST") {
    init.body = Buffer.from(body ?? "", isBase64Encoded === true ? "base64" : "utf8");
  }
  const response = await push.fetch(new Request(`https://lambda${rawPath ?? path}`, init));
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}
