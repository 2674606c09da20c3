import { promisify } from "node:util";
import bodyParser from "body-parser";
import type { Request, Response } from "express";
import { RouterError } from "./router-error";

const LIMIT_BYTES = 65_536;

const parseBody = promisify(bodyParser.json({ limit: LIMIT_BYTES, strict: false }));

/**
 * Reads the JSON body of a request, also when the app parsed it before. It must be application/json: a
 * form of another site cannot send that, and a script needs a CORS preflight.
 *
 * @throws RouterError
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
