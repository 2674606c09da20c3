import { app, type HttpRequest, type HttpResponseInit } from "@azure/functions";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
push.on("challenge.approved", (event) => console.log(event.challenge_sid));

export async function receive({ method, url, headers, body }: HttpRequest) {
  const init: RequestInit = { method, headers: [...headers] as [string, string][] };
  if (method === "POST") Object.assign(init, { body, duplex: "half" });
  const response = await push.fetch(new Request(url, init));
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  } satisfies HttpResponseInit;
}

app.http("push", { methods: ["POST"], authLevel: "anonymous", handler: receive });
