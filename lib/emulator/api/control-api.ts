import { created, found, noContent } from "./endpoint-router";
import type { EndpointHandler, EndpointRequest, Endpoint } from "./endpoint-router";
import { assertMayManageKeys } from "./credentials";
import { EmulatorError } from "../emulator-error";
import type { Deliveries } from "../outbound/deliveries";
import type { NewChallenge } from "../resources/challenge";
import type { Factors } from "../resources/factors";
import type { Fault } from "../outbound/fault";
import type { Faults } from "../outbound/faults";

/**
 * Creates the endpoints of the control API, which acts for users and devices. Requests and responses
 * are JSON; the credentials are those of the account or of a Main key. docs/emulator.md lists them.
 *
 * @experimental
 */
export function createControlEndpoints(
  factors: Factors,
  deliveries: Deliveries,
  faults: Faults,
): Endpoint[] {
  const methodsByPath: Record<string, Record<string, EndpointHandler>> = {
    factors: { POST: (request) => created(factors.createFactor(readJsonObject(request))) },
    "factors/([^/]+)": {
      GET: (_request, [sid = ""]) => found(factors.fetchFactor(sid)),
      DELETE: noContent((_request, [sid = ""]) => factors.deleteFactor(sid)),
    },
    "factors/([^/]+)/verify": { POST: (_request, [sid = ""]) => found(factors.verifyFactor(sid)) },
    challenges: {
      POST: (request) => created(factors.createChallenge(readJsonObject(request) as NewChallenge)),
    },
    "challenges/([^/]+)": { GET: (_request, [sid = ""]) => found(factors.fetchChallenge(sid)) },
    "challenges/([^/]+)/approve": {
      POST: (request, [sid = ""]) => found(factors.approveChallenge(sid, readJsonObject(request))),
    },
    "challenges/([^/]+)/deny": {
      POST: (request, [sid = ""]) => found(factors.denyChallenge(sid, readJsonObject(request))),
    },
    deliveries: {
      async GET({ query }) {
        if (new Map(query).get("settled") === "true") await deliveries.settled();
        return found({ deliveries: deliveries.list() });
      },
    },
    faults: {
      POST: noContent((request) => faults.inject(readJsonObject(request) as Fault)),
      DELETE: noContent(() => faults.clear()),
    },
  };
  return Object.entries(methodsByPath).map(([path, methods]) => ({
    path: new RegExp(`^/_control/${path}$`),
    methods: Object.fromEntries(
      Object.entries(methods).map(([method, handler]) => [method, forAccount(handler)]),
    ),
  }));
}

/** Limits a handler to the account and to Main keys, which have its access (section 1). */
function forAccount(handler: EndpointHandler): EndpointHandler {
  return (request, params) => {
    assertMayManageKeys(request.identity);
    return handler(request, params);
  };
}

/**
 * Parses the body as a JSON object; ignores the content type. An empty body is an empty object; any
 * other is rejected with EmulatorError 20001.
 */
function readJsonObject({ body }: EndpointRequest): object {
  if (body.length === 0) return {};
  let json: unknown;
  try {
    json = JSON.parse(body.toString("utf8"));
  } catch {
    json = undefined;
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new EmulatorError("BAD_REQUEST", "Bad request: the body must be a JSON object");
  }
  return json;
}
