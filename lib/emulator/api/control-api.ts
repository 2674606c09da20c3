import { created } from "./endpoint-router";
import type { EndpointGroup, EndpointRequest, Endpoints } from "./endpoint-router";
import { assertMayManageKeys } from "./credentials";
import { isMembers } from "../../kit/validate-options";
import { parseJson } from "../../kit/text";
import { EmulatorError } from "../emulator-error";
import type { Deliveries } from "../outbound/deliveries";
import type { NewChallenge } from "../resources/entity";
import type { FactorControl } from "../resources/factor-control";
import type { Fault, Faults } from "../outbound/faults";

/**
 * Creates the endpoints of the control API, which acts for users and devices. Requests and responses
 * are JSON; the account and Main keys may use it. docs/emulator.md lists them.
 *
 * @experimental
 */
export function createControlEndpoints(
  factors: FactorControl,
  deliveries: Deliveries,
  faults: Faults,
): EndpointGroup {
  const endpoints: Endpoints = {
    "/factors": { POST: (request) => created(factors.createFactor(readJsonObject(request))) },
    "/factors/{sid}": {
      GET: (request) => factors.fetchFactor(sidOf(request)),
      DELETE: (request) => factors.deleteFactor(sidOf(request)),
    },
    "/factors/{sid}/verify": { POST: (request) => factors.verifyFactor(sidOf(request)) },
    "/challenges": {
      POST: (request) => created(factors.createChallenge(readJsonObject(request) as NewChallenge)),
    },
    "/challenges/{sid}": { GET: (request) => factors.fetchChallenge(sidOf(request)) },
    "/challenges/{sid}/approve": {
      POST: (request) => factors.approveChallenge(sidOf(request), readJsonObject(request)),
    },
    "/challenges/{sid}/deny": {
      POST: (request) => factors.denyChallenge(sidOf(request), readJsonObject(request)),
    },
    "/deliveries": {
      async GET({ query }) {
        if (new Map(query).get("settled") === "true") await deliveries.settled();
        return { deliveries: deliveries.list() };
      },
    },
    "/faults": {
      POST: (request) => faults.inject(readJsonObject(request) as Fault),
      DELETE: () => faults.clear(),
    },
  };
  return {
    prefix: "/_control",
    endpoints,
    // Main keys have the access of the account (section 1).
    check: ({ caller }) => assertMayManageKeys(caller),
  };
}

function sidOf({ params: [sid = ""] }: EndpointRequest): string {
  return sid;
}

/**
 * Parses the body as a JSON object. An empty body is an empty object; another content type, and JSON
 * that is no object, are rejected with EmulatorError 20001.
 */
function readJsonObject({ body, contentType }: EndpointRequest): object {
  if (body.length === 0) return {};
  if (!/^application\/json *(;|$)/i.test(contentType)) {
    throw new EmulatorError("BAD_REQUEST", "Bad request: the body must be application/json");
  }
  const json = parseJson(body.toString("utf8"));
  if (isMembers(json)) return json;
  throw new EmulatorError("BAD_REQUEST", "Bad request: the body must be a JSON object");
}
