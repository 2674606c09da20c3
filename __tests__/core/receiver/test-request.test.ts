import { signAcceptedRequest } from "../../../lib/core/receiver/test-request";
import { AUTH_TOKEN, eventPairs, PUBLIC_URL } from "../../support/webhook-requests";

const settings = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };
const accept = (
  given: object,
  overrides: object = { uuid: "1" },
  method: "GET" | "POST" = "POST",
) =>
  signAcceptedRequest(
    { ...settings, ...given },
    {
      method,
      contentType: "application/x-www-form-urlencoded",
      params: eventPairs("factor.created", "v2", { ...overrides }),
    },
  );

it("signs with the first token, URL and header of lists", () => {
  const lists = { authToken: [AUTH_TOKEN, "b"], publicUrl: [PUBLIC_URL, "https://b.test/"] };
  const { request, event } = accept({ ...lists, signatureHeader: ["X-A", "X-B"] });
  const { "X-Service-Signature": signature, ...headers } = accept({}).request.headers;
  expect(request).toEqual({ ...accept({}).request, headers: { ...headers, "X-A": signature } });
  expect(event.type).toBe("factor.created");
  expect(accept({}, {}, "GET").request.url).toContain(`${PUBLIC_URL}?`);
});

it.each<[result: string, settings: object, ...overrides: object[]]>([
  ["TypeError", { authToken: () => AUTH_TOKEN }],
  ["TypeError", { limitBytes: 0 }],
  ["TypeError", {}, { uuid: `${"5".repeat(32)}u` }],
  ["TypeError", {}, { tag: "\ud800" }],
  ["BODY_TOO_LARGE", { limitBytes: 9 }],
  ["BODY_TOO_LARGE", {}, Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [at, ""]))],
  ["PAYLOAD_AMBIGUOUS", {}, { event_id: "1" }],
  ["accepted", { extraParameters: ["event_id"] }, { event_id: "1" }],
  ["accepted", { confirm: () => true }, { event_id: "1" }],
  ["accepted", { allowedAccountSids: [] }],
])("%s: a request for a receiver with %j, with %j", (result, given, ...more) => {
  let found = "accepted";
  try {
    accept(given, ...more);
  } catch (error) {
    const { name, code = name } = error as { name: string; code?: string };
    found = code;
  }
  expect(found).toBe(result);
});
