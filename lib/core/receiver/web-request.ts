import { createConsumedError, readWebStream, type BodyLimits } from "./body";
import type { IncomingRequest } from "./incoming-request";
import { describeResponse } from "./response";
import type { Pair } from "../../kit/pairs";
import type { WebhookError } from "../errors/webhook-error";
import { describeType } from "../../kit/validate-options";

/** A webhook request as a `Request` of the Web platform. */
export class WebRequest implements IncomingRequest {
  readonly remoteAddress = undefined;
  body: unknown;

  /** Throws a TypeError for a value that is no `Request`. */
  constructor(
    readonly request: Request,
    readonly limits: BodyLimits,
  ) {
    if ("bodyUsed" in Object(request)) return;
    throw new TypeError(
      `push.fetch: request must be a Request; received ${describeType(request)}. Pass the one of your framework, such as c.req.raw of Hono.`,
    );
  }

  get method(): string {
    return this.request.method;
  }

  get target(): string {
    return /^[^:]*:\/\/[^/?#]*(.*)/s.exec(this.request.url)?.[1] ?? "";
  }

  get mayHaveBody(): boolean {
    return this.request.body !== null;
  }

  listHeader(name: string): readonly string[] {
    const { headers, url } = this.request;
    const value = headers.get(name) ?? (name === "host" ? new URL(url).host : null);
    return value === null ? [] : [value];
  }

  listHeaders(): readonly Pair[] {
    return [...this.request.headers];
  }

  readBody(): unknown {
    const { body, bodyUsed } = this.request;
    if (body === null) return "";
    if (bodyUsed || body.locked) {
      const found = bodyUsed ? "bodyUsed is true" : "a reader holds the stream";
      throw createConsumedError(
        found,
        "Pass the request before its body is read, or a clone of it.",
      );
    }
    return readWebStream(body, this.limits);
  }
}

/** Creates the `Response` to a request. */
export function createResponse(rejection: WebhookError | undefined): Response {
  const { status, headers, text } = describeResponse(rejection);
  return new Response(text === "" ? null : text, { status, headers });
}
