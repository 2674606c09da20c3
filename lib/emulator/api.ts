import type { Pair } from "../form";
import { EmulatorError, notFound } from "./errors";
import type { Identity } from "./credentials";

/** A request to one of the service's endpoints, read and authenticated. */
export interface ApiRequest {
  method: string;
  /** The path as requested, without its query. */
  path: string;
  query: readonly Pair[];
  body: Buffer;
  contentType: string;
  /** Where the client reaches the service: the origin of absolute URLs. */
  baseUrl: string;
  identity: Identity;
}

/** What is answered; without a body, nothing but the status. */
export interface ApiAnswer {
  status: number;
  body?: unknown;
}

/** Answers one kind of request; the matches of its path come along. */
export type ApiHandler = (
  request: ApiRequest,
  params: readonly string[],
) => ApiAnswer | Promise<ApiAnswer>;

/** The handlers of one path, by method. */
export interface Route {
  path: RegExp;
  methods: Partial<Record<string, ApiHandler>>;
}

/**
 * Makes one handler of many routes.
 *
 * @throws EmulatorError (by what it returns) 20404 for a path that leads nowhere, 20004 for a
 *   method that a path does not have.
 */
export function createRouter(routes: readonly Route[]) {
  return function route(request: ApiRequest): ApiAnswer | Promise<ApiAnswer> {
    for (const { path, methods } of routes) {
      const match = path.exec(request.path);
      if (match === null) continue;
      const handler = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
      if (handler === undefined) {
        const Allow = Object.keys(methods).join(", ");
        throw new EmulatorError("METHOD_NOT_ALLOWED", "Method not allowed", { Allow });
      }
      return handler(request, match.slice(1));
    }
    throw notFound(request.path);
  };
}
