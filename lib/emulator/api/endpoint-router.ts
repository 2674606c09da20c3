import { decodeSafely } from "../../form/text";
import type { Pair } from "../../form/form";
import { EmulatorError, notFound } from "../emulator-error";
import type { SidPrefix } from "../../form/sid";
import { cutPage, type ListItem } from "../resources/pagination";
import type { Caller } from "./credentials";

/** An authenticated request. */
export interface ApiRequest {
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

/** A request to one of the service's endpoints. */
export interface EndpointRequest extends ApiRequest {
  /** The values of the names in braces of its path, decoded. */
  params: readonly string[];
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

const INVALID = "REQUEST_INVALID";

/**
 * Creates the response with a page of a list of the verification API (section 2.4), in the order of
 * creation.
 */
export function foundList<Item extends ListItem>(
  request: EndpointRequest,
  key: string,
  prefix: SidPrefix,
  all: Iterable<Item>,
  toResource: (item: Item, request: EndpointRequest) => unknown,
  newestFirst = false,
): EndpointResponse {
  const invalid = { PageSize: INVALID, Page: INVALID, PageToken: INVALID } as const;
  const rules = { prefix, sortedBy: "date_created", newestFirst, invalid } as const;
  const page = cutPage(all, request.query, urlOf(request), rules);
  const meta = {
    page: page.page,
    page_size: page.pageSize,
    first_page_url: page.first,
    previous_page_url: page.previous,
    url: page.url,
    next_page_url: page.next,
    key,
  };
  return found({ [key]: page.items.map((item) => toResource(item, request)), meta });
}

/** Handles one method of a path. */
export type EndpointHandler = (
  request: EndpointRequest,
) => EndpointResponse | Promise<EndpointResponse>;

/** Creates the handler of a change whose response has no body. */
export function noContent(change: (request: EndpointRequest) => void): EndpointHandler {
  return (request) => {
    change(request);
    return { status: 204 };
  };
}

/** Handlers by path, such as `/Webhooks/{Sid}`, and by method. */
export type Endpoints = Readonly<Record<string, Partial<Record<string, EndpointHandler>>>>;

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

  return function routeRequest(received: ApiRequest) {
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
      return handler(request);
    }
    throw notEmulated(received);
  };
}

/** Rejects a request that the service may know and the emulator does not. */
export function notEmulated({ method, path }: ApiRequest): EmulatorError {
  return new EmulatorError("NOT_EMULATED", `The emulator does not have ${method} ${path}`);
}

/** Returns the URL of a request without its query. */
export function urlOf({ baseUrl, path }: EndpointRequest): string {
  return baseUrl + path;
}

/** Returns the URL of an entity of the service in the path of a request. */
export function entityUrlOf({ baseUrl, path }: EndpointRequest, identity: string): string {
  const [servicePath = ""] = /^\/v2\/Services\/[^/]+/.exec(path) ?? [];
  return `${baseUrl}${servicePath}/Entities/${encodeURIComponent(identity)}`;
}

/** Returns the resource of a path. @throws EmulatorError 20404 when it does not exist. */
export function existing<Resource>(
  resource: Resource | undefined,
  { path }: EndpointRequest,
): Resource {
  if (resource !== undefined) return resource;
  // The messages of the verification API omit the version.
  throw notFound(path.replace(/^\/v2(?=\/)/, ""));
}
