import type { Request, Response } from "express";
import type * as z from "zod";
import type { AuditAction, Audited } from "./audit";

/** A route of the router or of its console. */
export interface Route {
  method: "get" | "post" | "patch" | "delete";
  path: string;
  /** Name of the write in the audit; undefined for a route that only reads. */
  action?: AuditAction;
  /** What it does, for the OpenAPI document; undefined for a route of the console. */
  summary?: string;
  /** The schema of its JSON body. */
  input?: z.ZodType;
  /** The schema of its response: other members are removed. */
  output?: z.ZodType;
  /** @default 200 */
  status?: number;
  /** Receives the parsed body. Returns the body of the response, unless it has sent the headers. */
  run(req: Request, input: unknown, audited: Audited, res: Response): unknown;
}
