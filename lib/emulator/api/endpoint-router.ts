import type { Pair } from "../../form/form";
import { EmulatorError, notFound } from "../emulator-error";
import type { Identity } from "./credentials";

/** An authenticated request to one of the service's endpoints. */
export interface EndpointRequest {
  method: string;
  /** Path as received, without the query. */
  path: string;
  query: readonly Pair[];
  body: Buffer;
  contentType: string;
  /** Origin at which the client reaches the service: the start of absolute URLs in responses. */
  baseUrl: string;
  identity: Identity;
}

/** Response of an endpoint; without `body`, the response has no body. */
export interface EndpointResponse {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
}

/** Creates the response to a request that was successful. */
export function found(body: unknown): EndpointResponse {
  return { status: 200, body };
}

/** Creates the response to a request that created a resource. */
export function created(body: unknown): EndpointResponse {
  return { status: 201, body };
}

/** Handles one method of a path; `params` holds the groups that the path's pattern captured. */
export type EndpointHandler = (
  request: EndpointRequest,
  params: readonly string[],
) => EndpointResponse | Promise<EndpointResponse>;

/** Creates the handler of a change whose response has no body. */
export function noContent(change: (...args: Parameters<EndpointHandler>) => void): EndpointHandler {
  return (...args) => {
    change(...args);
    return { status: 204 };
  };
}

/** Handlers of one path, by method. */
export interface Endpoint {
  path: RegExp;
  methods: Partial<Record<string, EndpointHandler>>;
}

/**
 * Creates the function that passes a request to the endpoint of its path and method. It throws
 * EmulatorError 20404 for an unknown path, 20004 for a method that the path does not support.
 */
export function createEndpointRouter(endpoints: readonly Endpoint[]) {
  return function routeRequest(request: EndpointRequest) {
    for (const { path, methods } of endpoints) {
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
