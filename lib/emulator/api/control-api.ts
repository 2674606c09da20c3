import { created, found } from "./endpoint-router";
import type { EndpointHandler, EndpointRequest, Endpoint } from "./endpoint-router";
import { assertMayManageKeys } from "./credentials";
import { EmulatorError } from "../emulator-error";
import type { Deliveries } from "../outbound/deliveries";
import type { NewChallenge } from "../resources/challenge";
import type { Factors } from "../resources/factors";
import type { Fault, Faults } from "../outbound/faults";

/**
 * Creates the endpoints of the control API, which acts for users and devices. Requests and responses
 * are JSON; the credentials are those of the account or of a Main key.
 *
 * | Method and path | Body | Response |
 * |---|---|---|
 * | POST `/_control/factors` | `entity_identity`, `friendly_name`, `metadata`; all optional | 201, the factor |
 * | GET `/_control/factors/{sid}` | | 200, the factor |
 * | POST `/_control/factors/{sid}/verify` | | 200, the factor |
 * | DELETE `/_control/factors/{sid}` | | 204 |
 * | POST `/_control/challenges` | `factor_sid`; `details`, `hidden_details` optional | 201, the challenge |
 * | GET `/_control/challenges/{sid}` | | 200, the challenge |
 * | POST `/_control/challenges/{sid}/approve`, `…/deny` | `metadata`, optional | 200, the challenge |
 * | GET `/_control/deliveries` | | 200, `{ "deliveries": […] }`; with `?settled=true` once no delivery is pending |
 * | POST `/_control/faults` | a fault: `kind`, `times`, … | 204 |
 * | DELETE `/_control/faults` | | 204 |
 *
 * @experimental
 */
export function createControlEndpoints(
  factors: Factors,
  deliveries: Deliveries,
  faults: Faults,
): Endpoint[] {
  const methodsByPath: Record<string, Record<string, EndpointHandler>> = {
    factors: { POST: (request) => created(factors.createFactor(readJson(request))) },
    "factors/([^/]+)": {
      GET: (_request, [sid = ""]) => found(factors.fetchFactor(sid)),
      DELETE(_request, [sid = ""]) {
        factors.deleteFactor(sid);
        return { status: 204 };
      },
    },
    "factors/([^/]+)/verify": { POST: (_request, [sid = ""]) => found(factors.verifyFactor(sid)) },
    challenges: {
      POST: (request) => created(factors.createChallenge(readJson(request) as NewChallenge)),
    },
    "challenges/([^/]+)": { GET: (_request, [sid = ""]) => found(factors.fetchChallenge(sid)) },
    "challenges/([^/]+)/approve": {
      POST: (request, [sid = ""]) => found(factors.approveChallenge(sid, readJson(request))),
    },
    "challenges/([^/]+)/deny": {
      POST: (request, [sid = ""]) => found(factors.denyChallenge(sid, readJson(request))),
    },
    deliveries: {
      async GET({ query }) {
        if (new Map(query).get("settled") === "true") await deliveries.settled();
        return found({ deliveries: deliveries.list() });
      },
    },
    faults: {
      POST(request) {
        faults.inject(readJson(request) as Fault);
        return { status: 204 };
      },
      DELETE() {
        faults.clear();
        return { status: 204 };
      },
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
 * Parses the body as a JSON object; ignores the content type. An empty body is an empty object.
 *
 * @throws EmulatorError 20001 for any other body.
 */
function readJson({ body }: EndpointRequest): object {
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
