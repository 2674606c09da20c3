import bodyParser from "body-parser";
import type { Request, Response } from "express";
import { RouterError } from "./problem";

const LIMIT_BYTES = 65_536;

const parseJson = bodyParser.json({ limit: LIMIT_BYTES, strict: false });

/**
 * Reads the JSON of a request, whether or not the app has parsed it before.
 *
 * A form of a foreign page cannot send JSON, and a script of one must ask first: that is what keeps
 * such pages from writing.
 *
 * @throws RouterError 415 for another content type, 400 for invalid JSON, 413 for too much of it,
 *   500 for a body that something has read and thrown away.
 */
export async function readJson(req: Request, res: Response): Promise<unknown> {
  if (req.is("application/json") !== "application/json") {
    throw new RouterError(415, "CONTENT_TYPE_UNSUPPORTED", "Send Content-Type: application/json.");
  }
  // Express 4 leaves an empty object where nothing was parsed.
  if (isParsed(req)) return req.body as unknown;
  if (req.readableDidRead || req.readableEnded) {
    throw new RouterError(
      500,
      "BODY_CONSUMED",
      "Something has read the body and left nothing of it. Mount adminRouter() before it.",
    );
  }
  await new Promise<void>((resolve, reject) => {
    parseJson(req, res, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(explainParseError(error));
    });
  });
  return req.body as unknown;
}

function isParsed(req: Request): boolean {
  const body = req.body as unknown;
  return body !== undefined && (req.readableDidRead || req.readableEnded);
}

function explainParseError(error: unknown): RouterError {
  const { status } = error as { status?: unknown };
  if (status === 413) {
    return new RouterError(413, "BODY_TOO_LARGE", `The body is over ${LIMIT_BYTES} bytes.`);
  }
  if (status === 415) {
    return new RouterError(415, "CONTENT_TYPE_UNSUPPORTED", "Send JSON in UTF-8, uncompressed.");
  }
  return new RouterError(400, "INVALID_JSON", "The body is not JSON.");
}
