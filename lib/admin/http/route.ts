import type { Request, Response } from "express";
import type * as z from "zod";
import type { AuditAction, Audited } from "./audit";

/** A route of the router or of its console. */
export interface Route {
  method: "get" | "post" | "patch" | "delete";
  path: string;
  /** Undefined for a route that only reads. */
  action?: AuditAction;
  /** For the OpenAPI document, which has no route of the console. */
  summary?: string;
  input?: z.ZodType;
  /** The response: other members are removed. */
  output?: z.ZodType;
  /** @default 200 */
  status?: number;
  /** Receives the parsed body. Returns the body of the response, unless it has sent the headers. */
  run(req: Request, input: unknown, audited: Audited, res: Response): unknown;
}
