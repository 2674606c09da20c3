import { signRequest } from "../../lib/signature/signed-request";
import { listEventPairs, type Pair } from "../../lib/form/parameters";
import { about, requests } from "../fixtures/webhook-requests.json";

const options = {
  authToken: about.token,
  signatureHeader: "x-service-signature",
  contentType: "application/x-www-form-urlencoded; charset=UTF-8",
} as const;

describe("signRequest", () => {
  it.each(requests.map((request) => [request.id, request] as const))(
    "creates the recorded webhook request %s",
    (_id, { url, body, headers, ...recorded }) => {
      const method = recorded.method as "GET" | "POST";
      const version = recorded.version as "v1" | "v2";
      const { configuredUrl: webhookUrl } = about;
      const sent = new URLSearchParams(body ?? url.slice(webhookUrl.length));
      const params = listEventPairs(version, Object.fromEntries(sent));
      const request = signRequest({ ...options, method, webhookUrl, params });
      expect(params).toEqual([...sent]);
      expect(request.headers["x-service-signature"]).toBe(headers["x-service-signature"]);
      expect([request.url, request.body ?? null]).toEqual([url, body]);
    },
  );

  it.each([
    ["https://a.example/p", "https://a.example/p", "?a=1+2"],
    ["https://a.example/p?", "https://a.example/p?", "a=1+2"],
    ["https://a.example/p?b", "https://a.example/p?b", "&a=1+2"],
    ["https://a.example/p?b=1&", "https://a.example/p?b=1&", "&a=1+2"],
    ["https://u:p@a.example#f", "https://a.example", "?a=1+2"],
  ])("appends the parameters of a GET to %s", (webhookUrl, url, query) => {
    const get = { ...options, method: "GET", webhookUrl } as const;
    const params: Pair[] = [["a", "1 2"]];
    expect(signRequest({ ...get, params })).toMatchObject({ url: url + query, body: undefined });
    expect(signRequest({ ...get, params: [] }).url).toBe(url);
  });
});
