import { promisify } from "node:util";
import bodyParser from "body-parser";
import type { Request, Response } from "express";
import { RouterError } from "./router-error";

const LIMIT_BYTES = 65_536;

const parseBody = promisify(bodyParser.json({ limit: LIMIT_BYTES, strict: false }));

/**
 * Reads the JSON body of a request, also when the app parsed it before.
 *
 * Requires application/json, which protects against cross-site forms: a form cannot send JSON, and a
 * script of another origin needs a CORS preflight.
 *
 * @throws RouterError 415 for another content type, 400 for invalid JSON, 413 for more than 64 KiB,
 *   500 for a body that another middleware consumed without parsing it.
 */
export async function readJson(req: Request, res: Response): Promise<unknown> {
  if (req.is("application/json") !== "application/json") {
    throw new RouterError(415, "CONTENT_TYPE_UNSUPPORTED", "Send Content-Type: application/json.");
  }
  if (req.readableDidRead || req.readableEnded) {
    // An object alone proves nothing: parsers of Express 4 set {} without reading a body.
    if (req.body !== undefined) return req.body as unknown;
    throw new RouterError(
      500,
      "BODY_CONSUMED",
      "Another middleware consumed the body without parsing it. Mount adminRouter() before it.",
    );
  }
  await parseBody(req, res).catch((error: unknown) => {
    throw describeParserError(error);
  });
  return req.body as unknown;
}

function describeParserError(error: unknown): RouterError {
  const { status } = error as { status?: unknown };
  if (status === 413) {
    return new RouterError(413, "BODY_TOO_LARGE", `The body is over ${LIMIT_BYTES} bytes.`);
  }
  if (status === 415) {
    return new RouterError(415, "CONTENT_TYPE_UNSUPPORTED", "Send JSON in UTF-8, uncompressed.");
  }
  return new RouterError(400, "INVALID_JSON", "The body is not valid JSON.");
}
