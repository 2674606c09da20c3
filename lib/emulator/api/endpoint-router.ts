import { decodeSafely } from "../../kit/text";
import type { Pair } from "../../kit/pairs";
import { EmulatorError } from "../emulator-error";
import type { Caller } from "./credentials";

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
  /** Absolute URL without the query. */
  url: string;
  caller: Caller;
  /** The values of the names in braces of its path, decoded; set by the router. */
  params: readonly string[];
}

/** Response of the server; without `body`, the response has no body. */
export class EndpointResponse {
  constructor(
    readonly status: number,
    readonly body?: unknown,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

export function created(body: unknown): EndpointResponse {
  return new EndpointResponse(201, body);
}

/**
 * Handlers by path, such as `/Webhooks/{Sid}`, and by method. A handler returns the body of a response
 * with status 200, undefined for 204, or another response.
 */
export type Endpoints = Record<string, Record<string, (request: EndpointRequest) => unknown>>;

/** Endpoints of one API: their paths start with `prefix`, and `check` runs before each handler. */
export interface EndpointGroup {
  prefix: string;
  check(request: EndpointRequest): void;
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

  return async function routeRequest(received: EndpointRequest): Promise<EndpointResponse> {
    for (const { pattern, methods, check } of routes) {
      const match = pattern.exec(received.path);
      if (match === null) continue;
      const request = { ...received, params: match.slice(1).map(decodeSafely) };
      check(request);
      const handler = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
      if (handler === undefined) {
        const Allow = Object.keys(methods).join(", ");
        throw new EmulatorError("METHOD_NOT_ALLOWED", "Method not allowed", { Allow });
      }
      const result = await handler(request);
      if (result instanceof EndpointResponse) return result;
      return new EndpointResponse(result === undefined ? 204 : 200, result);
    }
    throw createNotEmulatedError(received);
  };
}

export function createNotEmulatedError({ method, path }: EndpointRequest): EmulatorError {
  return new EmulatorError("NOT_EMULATED", `The emulator does not have ${method} ${path}`);
}

/** Returns the URL of an entity of the service in the path of a request. */
export function entityUrlOf({ baseUrl, params }: EndpointRequest, identity: string): string {
  return `${baseUrl}/v2/Services/${params[0]}/Entities/${encodeURIComponent(identity)}`;
}
