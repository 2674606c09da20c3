import { signRequest } from "../../lib/signature/signed-request";
import { listEventPairs } from "../../lib/form/parameters";
import type { Pair } from "../../lib/form/form";
import calls from "../fixtures/webhook-calls.json";
import { vectors } from "../fixtures/signature-vectors.json";

const options = {
  authToken: calls.about.token,
  method: "POST",
  signatureHeader: "x-service-signature",
  contentType: "application/x-www-form-urlencoded; charset=UTF-8",
} as const;

describe("signRequest", () => {
  it.each(vectors.map((vector) => [vector.id, vector] as const))(
    "agrees with the vector %s",
    (_id, { token, url, signedUrl, params, signature }) => {
      const call = signRequest({
        ...options,
        authToken: token,
        // This vector is about a received URL; the service signs the configured one.
        webhookUrl: url.includes(":8443") ? signedUrl : url,
        params: params as [string, string][],
      });
      expect(call.headers["x-service-signature"]).toBe(signature);
      expect(call.url).toBe(signedUrl);
    },
  );

  it.each(calls.calls.map((call) => [call.id, call] as const))(
    "creates the recorded webhook request %s",
    (_id, recorded) => {
      const method = recorded.method as "GET" | "POST";
      const version = recorded.version as "v1" | "v2";
      const params = listEventPairs(version, recorded.params);
      const call = signRequest({
        ...options,
        method,
        webhookUrl: calls.about.configuredUrl,
        params,
      });
      expect(Object.fromEntries(params)).toEqual(recorded.params);
      expect(call.headers["x-service-signature"]).toBe(recorded.signature);
      expect(call.url).toBe(recorded.url);
      expect(call.body ?? null).toBe(recorded.body);
    },
  );

  it.each([
    ["https://a.example/p", "https://a.example/p?a=1+2"],
    ["https://a.example/p?", "https://a.example/p?a=1+2"],
    ["https://a.example/p?b", "https://a.example/p?b&a=1+2"],
    ["https://a.example/p?b=1&", "https://a.example/p?b=1&&a=1+2"],
    ["https://u:p@a.example#f", "https://a.example?a=1+2"],
  ])("appends the parameters of a GET to %s", (webhookUrl, url) => {
    const params: Pair[] = [["a", "1 2"]];
    expect(signRequest({ ...options, method: "GET", webhookUrl, params })).toMatchObject({
      url,
      body: undefined,
    });
    expect(signRequest({ ...options, method: "GET", webhookUrl, params: [] }).url).toBe(
      url.replace(/[?&]*a=1\+2/, (found) =>
        found.startsWith("?")
          ? webhookUrl.endsWith("?")
            ? "?"
            : ""
          : found.startsWith("&&")
            ? "&"
            : "",
      ),
    );
  });
});
