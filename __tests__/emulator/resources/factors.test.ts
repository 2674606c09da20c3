import { createEntities } from "../../../lib/emulator/resources/entities";
import { createFactors, type Factors } from "../../../lib/emulator/resources/factors";

let events: [type: string, fields: Record<string, string | undefined>][];
let factors: Factors;
beforeEach(() => {
  events = [];
  const emit = (type: string, fields: object) => void events.push([type, { ...fields }]);
  factors = createFactors(createEntities(Date.now, emit));
});

const types = () => events.map(([type]) => type);
const refusal = (serviceCode: number, status: number) =>
  expect.objectContaining({ serviceCode, status });
function createVerified() {
  return factors.verifyFactor(factors.createFactor().sid);
}

describe("factors and challenges", () => {
  it("emit one event for each transition", () => {
    const factor = factors.createFactor();
    expect(factor.status).toBe("unverified");
    expect(factors.verifyFactor(factor.sid).status).toBe("verified");
    const [first, second] = [1, 2].map(() => factors.createChallenge({ factor_sid: factor.sid }));
    expect(first!.status).toBe("pending");
    expect(factors.approveChallenge(first!.sid).status).toBe("approved");
    expect(factors.denyChallenge(second!.sid).status).toBe("denied");
    factors.deleteFactor(factor.sid);
    expect(types()).toEqual([
      "factor.created",
      "factor.verified",
      "challenge.approved",
      "challenge.denied",
      "factor.deleted",
    ]);
  });

  it("reject text that cannot be sent, and do not store it", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`) as object;
    const { sid: factor_sid } = createVerified();
    events = [];
    for (const create of [
      () => factors.createFactor({ entity_identity: "\uD800" }),
      () => factors.createFactor({ friendly_name: "\uDC00" }),
      () => factors.createChallenge({ factor_sid, hidden_details: { deep } }),
      () => factors.createChallenge({ factor_sid, details: { message: "x".repeat(20_000) } }),
    ]) {
      expect(create).toThrow(refusal(60200, 400));
    }
    expect(events).toEqual([]);
  });

  it("do not change with their arguments or results", () => {
    const metadata = { os: "Android" };
    const factor = factors.createFactor({ metadata });
    metadata.os = "iOS";
    if (factor.metadata !== undefined) factor.metadata.os = "other";
    expect(factors.fetchFactor(factor.sid).metadata).toEqual({ os: "Android" });
  });

  it("have the given fields and omit the others", () => {
    const factor = factors.createFactor({
      entity_identity: "u",
      friendly_name: "f",
      metadata: { os: "Android" },
    });
    expect(events[0]?.[1]).toEqual({
      entity_identity: "u",
      factor_sid: factor.sid,
      factor_type: "push",
      factor_friendly_name: "f",
      factor_metadata: '{"os":"Android"}',
    });
    factors.verifyFactor(factor.sid);
    const challenge = factors.createChallenge({
      factor_sid: factor.sid,
      details: { message: "m", date: "2024-03-05T10:20:30Z", fields: [{ label: "a", value: "b" }] },
      hidden_details: { ip: "203.0.113.77" },
    });
    factors.approveChallenge(challenge.sid, { metadata: { biometrics: "face" } });
    expect(events[2]?.[1]).toMatchObject({
      challenge_sid: challenge.sid,
      challenge_hidden_details: '{"ip":"203.0.113.77"}',
      challenge_metadata: '{"biometrics":"face"}',
    });
    expect(JSON.parse(events[2]?.[1].challenge_details ?? "")).toEqual({
      message: "m",
      date: "2024-03-05T10:20:30Z",
      fields: [{ label: "a", value: "b" }],
    });
    const plain = factors.createChallenge({
      factor_sid: factors.verifyFactor(factors.createFactor().sid).sid,
    });
    factors.denyChallenge(plain.sid);
    const [, fields] = events.at(-1)!;
    expect(fields.factor_metadata).toBeUndefined();
    expect(fields.challenge_hidden_details).toBeUndefined();
    expect(fields.challenge_metadata).toBeUndefined();
    expect(JSON.parse(fields.challenge_details ?? "")).toMatchObject({ fields: [] });
  });

  it("reject a challenge for a factor that is unverified, deleted or unknown", () => {
    const { sid } = factors.createFactor();
    expect(() => factors.createChallenge({ factor_sid: sid })).toThrow(refusal(60318, 403));
    factors.verifyFactor(sid);
    factors.deleteFactor(sid);
    expect(() => factors.createChallenge({ factor_sid: sid })).toThrow(refusal(20404, 404));
    expect(() => factors.createChallenge({ factor_sid: "YFx" })).toThrow(refusal(20404, 404));
  });

  it("reject a second decision, and a decision for a deleted factor", () => {
    const factor = createVerified();
    const challenge = factors.createChallenge({ factor_sid: factor.sid });
    const other = factors.createChallenge({ factor_sid: factor.sid });
    factors.approveChallenge(challenge.sid);
    const fired = events.length;
    expect(() => factors.approveChallenge(challenge.sid)).toThrow(refusal(20409, 409));
    expect(() => factors.denyChallenge(challenge.sid)).toThrow(refusal(20409, 409));
    expect(events).toHaveLength(fired);
    factors.deleteFactor(factor.sid);
    expect(() => factors.approveChallenge(other.sid)).toThrow(refusal(20409, 409));
    expect(() => factors.approveChallenge("YCx")).toThrow(refusal(20404, 404));
    expect(factors.fetchChallenge(challenge.sid).status).toBe("approved");
    expect(types().filter((type) => type === "challenge.approved")).toHaveLength(1);
  });

  it("reject a second verification and changes of a deleted factor", () => {
    const { sid } = createVerified();
    expect(() => factors.verifyFactor(sid)).toThrow(refusal(20409, 409));
    factors.deleteFactor(sid);
    for (const touch of [factors.verifyFactor, factors.deleteFactor, factors.fetchFactor]) {
      expect(() => touch(sid)).toThrow(refusal(20404, 404));
    }
  });

  it.each([
    ["over 1024 characters", { a: "b".repeat(1017) }],
    ["with values that are not strings", { a: 1 }],
    ["that is a string", "{}"],
  ])("rejects metadata %s", (_what, metadata) => {
    const given = { metadata } as { metadata: Record<string, string> };
    expect(() => factors.createFactor(given)).toThrow(refusal(60200, 400));
    const challenge = factors.createChallenge({ factor_sid: createVerified().sid });
    expect(() => factors.approveChallenge(challenge.sid, given)).toThrow(refusal(60200, 400));
    expect(factors.approveChallenge(challenge.sid).status).toBe("approved");
  });

  it("accept metadata of exactly 1024 characters", () => {
    const metadata = { a: "b".repeat(1016) };
    factors.createFactor({ metadata });
    expect(events[0]?.[1].factor_metadata).toHaveLength(1024);
  });

  it("reject unknown fields", () => {
    expect(() => factors.createFactor({ name: "x" } as object)).toThrow(refusal(60200, 400));
    expect(() => factors.createChallenge({} as never)).toThrow(refusal(60200, 400));
  });

  it("are copies of the stored resources", () => {
    const factor = factors.createFactor();
    factor.status = "verified";
    expect(() => factors.createChallenge({ factor_sid: factor.sid })).toThrow(refusal(60318, 403));
  });

  it("are removed over the limit, the oldest first", () => {
    const few = createFactors(createEntities(Date.now, () => {}, 2));
    const sids = [1, 2, 3].map(() => few.createFactor().sid);
    expect(() => few.fetchFactor(sids[0]!)).toThrow(refusal(20404, 404));
    expect(few.fetchFactor(sids[1]!).sid).toBe(sids[1]);
  });
});
