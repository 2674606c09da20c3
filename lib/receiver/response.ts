import { STATUS_CODES } from "node:http";
import type { WebhookError } from "../errors/webhook-error";

/** A response, before a door writes it. */
export interface ResponseParts {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

const ACCEPTED: ResponseParts = {
  status: 200,
  headers: { "Cache-Control": "no-store", "Content-Length": "0" },
  text: "",
};

/**
 * Returns the response to an accepted or a rejected request. It repeats no input, and the responses
 * to equal rejections are equal byte by byte.
 */
export function describeResponse(rejection: WebhookError | undefined): ResponseParts {
  if (rejection === undefined) return ACCEPTED;
  const { status } = rejection;
  const text = `${STATUS_CODES[status] ?? "Error"}\n`;
  const headers = {
    ...rejection.headers,
    "Cache-Control": "no-store",
    "Content-Length": String(Buffer.byteLength(text)),
    "Content-Type": "text/plain; charset=utf-8",
  };
  return { status, headers, text };
}
