import { verifyPushRequest, type VerifyOptions } from "express-push-verification";
import { createRandom } from "../support/attacker-texts";
import {
  chooseForeignText,
  chooseForgery,
  chooseGenuine,
  TOKEN,
  URL_HERE,
} from "../support/foreign-texts";

const options: VerifyOptions = { authToken: TOKEN, publicUrl: URL_HERE };

describe("texts that the token signed for other products", () => {
  it.each<[string, VerifyOptions]>([
    ["the default settings", options],
    ["GET accepted", { ...options, methods: ["POST", "GET"] }],
  ])(
    "are no events with %s",
    async (_what, settings) => {
      const random = createRandom(21);
      const codes = new Map<string, number>();
      for (let run = 0; run < 10_000; run++) {
        const { text } = chooseForeignText(random);
        const forgery = chooseForgery(text, random);
        if (forgery === undefined) continue;
        const code = await verifyPushRequest(forgery, settings).then(
          () => `accepted: ${forgery.method} ${text}`,
          (error: { code: string }) => error.code,
        );
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }
      expect([...codes.keys()].filter((code) => code.startsWith("accepted"))).toEqual([]);
      // Signed with the right token, and a complete event.
      expect(codes.get("PAYLOAD_AMBIGUOUS")).toBeGreaterThan(500);
    },
    120_000,
  );
});

describe("genuine requests", () => {
  it("are accepted, each as its event", async () => {
    const random = createRandom(22);
    for (let run = 0; run < 4_000; run++) {
      const { event, request } = chooseGenuine(random);
      const received = await verifyPushRequest(request, {
        ...options,
        methods: ["POST", "GET"],
      }).catch((error: Error) => error);
      const { account_sid, uuid, type, service_sid } = event;
      expect({ ...received, request }).toMatchObject({
        account_sid,
        uuid,
        type,
        service_sid,
        request,
      });
    }
  }, 60_000);
});
