import { createAuthenticate } from "../../lib/receiver/authenticate";
import { createReadEvent } from "../../lib/receiver/read-event";
import { resolveVerifyOptions, type VerifyOptions } from "../../lib/receiver/verify-options";
import { createGetParts, createPostParts } from "../../lib/signature/signed-parts";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventPairs,
  PUBLIC_URL,
  SERVICE_SID,
  signedRequestOf,
} from "../support/webhook-requests";

type Params = ReturnType<typeof eventPairs>;

/** Authenticates signed parameters and reads their event. */
async function read(
  params: Params,
  method: "GET" | "POST" = "POST",
  options: Partial<VerifyOptions> = {},
) {
  const settings = resolveVerifyOptions({
    authToken: ["next", AUTH_TOKEN],
    publicUrl: ["https://new.example.test/push", PUBLIC_URL],
    ...options,
  });
  const { path, headers } = signedRequestOf(params, { method });
  const { publicUrls, urlMatching } = settings;
  const alternatives =
    method === "GET"
      ? createGetParts(publicUrls, urlMatching)(path)
      : createPostParts(publicUrls, urlMatching)(params);
  const signature = headers["x-service-signature"] ?? "";
  const authenticated = await createAuthenticate(settings)(
    { method, signature },
    alternatives,
    () => ({ url: PUBLIC_URL, body: undefined }),
  );
  return createReadEvent(settings)(authenticated);
}

describe("createReadEvent", () => {
  it.each(["POST", "GET"] as const)(
    "returns the event of a %s and the indexes of its token and its publicUrl",
    async (method) => {
      const params = eventPairs("challenge.approved", "v2", { uuid: "u1" });
      expect(await read(params, method)).toEqual({
        event: expect.objectContaining({ type: "challenge.approved", uuid: "u1" }),
        authTokenIndex: 1,
        publicUrlIndex: 1,
      });
    },
  );

  it.each<[string, Params, Partial<VerifyOptions>]>([
    ["PAYLOAD_INVALID", eventPairs("factor.created", "v2", { factor_sid: undefined }), {}],
    [
      "PAYLOAD_AMBIGUOUS",
      eventPairs("factor.created", "v2", {
        entity_identity: `account_sid${ACCOUNT_SID}`,
      }),
      {},
    ],
    [
      "ACCOUNT_NOT_ALLOWED",
      eventPairs("factor.created"),
      { allowedAccountSids: [`AC${"0".repeat(32)}`] },
    ],
    [
      "ACCOUNT_NOT_ALLOWED",
      eventPairs("factor.created"),
      { allowedServiceSids: [SERVICE_SID.replace("VA4", "VA5")] },
    ],
  ])("rejects with %s", async (code, params, options) => {
    await expect(read(params, "POST", options)).rejects.toHaveProperty("code", code);
  });
});
