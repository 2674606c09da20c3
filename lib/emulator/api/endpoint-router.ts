import { decodeSafely } from "../../form/text";
import type { Pair } from "../../form/form";
import { EmulatorError, notFound } from "../emulator-error";
import type { Caller } from "./credentials";

/** An authenticated request to one of the service's endpoints. */
export interface EndpointRequest {
  method: string;
  /** Path as received, without the query. */
  path: string;
  query: readonly Pair[];
  body: Buffer;
  contentType: string;
  /** Header that a browser adds; undefined for other clients. */
  origin: string | undefined;
  /** Origin at which the client reaches the service: the start of absolute URLs in responses. */
  baseUrl: string;
  caller: Caller;
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

/** Handles one method of a path; `params` holds the values of the names in braces, decoded. */
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

/** Handlers by path, such as `/Webhooks/{Sid}`, and by method. */
export type Endpoints = Readonly<Record<string, Partial<Record<string, EndpointHandler>>>>;

/** Endpoints of one API: their paths start with `prefix`, and `check` runs before each handler. */
export interface EndpointGroup {
  prefix: string;
  check(...args: Parameters<EndpointHandler>): void;
  endpoints: Endpoints;
}

/**
 * Creates the function that passes a request to the endpoint of its path and method. It throws
 * EmulatorError 20501 for an unknown path, 20004 for a method that the path does not support.
 */
export function createEndpointRouter(groups: readonly EndpointGroup[]) {
  const routes = groups.flatMap(({ prefix, check, endpoints }) =>
    Object.entries(endpoints).map(([path, methods]) => {
      const source = (prefix + path).replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "([^/]+)");
      return { pattern: new RegExp(`^${source}$`), methods, check };
    }),
  );

  return function routeRequest(request: EndpointRequest) {
    for (const { pattern, methods, check } of routes) {
      const match = pattern.exec(request.path);
      if (match === null) continue;
      const params = match.slice(1).map(decodeSafely);
      check(request, params);
      const handler = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
      if (handler === undefined) {
        const Allow = Object.keys(methods).join(", ");
        throw new EmulatorError("METHOD_NOT_ALLOWED", "Method not allowed", { Allow });
      }
      return handler(request, params);
    }
    throw notEmulated(request);
  };
}

/** Rejects a request that the service may know and the emulator does not. */
export function notEmulated({ method, path }: EndpointRequest): EmulatorError {
  return new EmulatorError("NOT_EMULATED", `The emulator does not have ${method} ${path}`);
}

/** Returns the URL of a request without its query. */
export function urlOf({ baseUrl, path }: EndpointRequest): string {
  return baseUrl + path;
}

/** Rejects a path of the verification API without a resource; the message omits the version. */
export function resourceNotFound({ path }: EndpointRequest): EmulatorError {
  return notFound(path.replace(/^\/v2(?=\/)/, ""));
}
