import type { Emulator } from "express-push-verification/emulator";
import { callApi, startEmulator, stopEmulators } from "../../support/emulators";

afterEach(stopEmulators);

const challengePath = ({ serviceSid }: Emulator, identity: string, sid: string) =>
  `/v2/Services/${serviceSid}/Entities/${encodeURIComponent(identity)}/Challenges/${sid}`;

function createChallenge(emulator: Emulator) {
  const { sid: factor_sid } = emulator.createFactor({ entity_identity: "ada / zoë" });
  emulator.verifyFactor(factor_sid);
  return emulator.createChallenge({
    factor_sid,
    details: { message: "Sign in?" },
    hidden_details: { ip: "203.0.113.77" },
  });
}

describe("a challenge over REST", () => {
  it("is shown with every member, before and after the decision", async () => {
    let time = Date.UTC(2024, 2, 5, 9, 20);
    const emulator = await startEmulator({ now: () => time });
    const { sid, factor_sid } = createChallenge(emulator);
    const path = challengePath(emulator, "ada / zoë", sid);
    const { sid: username, secret } = emulator.createKey({ type: "standard" });
    const pending = await callApi(emulator, "GET", path, { as: [username, secret] });
    expect(pending).toMatchObject({ status: 200 });
    expect(pending.body).toEqual({
      sid,
      account_sid: emulator.accountSid,
      service_sid: emulator.serviceSid,
      entity_sid: expect.stringMatching(/^YE[0-9a-f]{32}$/),
      identity: "ada / zoë",
      factor_sid,
      factor_type: "push",
      date_created: "2024-03-05T09:20:00Z",
      date_updated: "2024-03-05T09:20:00Z",
      date_responded: null,
      expiration_date: "2024-03-05T09:25:00Z",
      status: "pending",
      responded_reason: null,
      details: { message: "Sign in?", date: "2024-03-05T09:20:00Z", fields: [] },
      hidden_details: { ip: "203.0.113.77" },
      metadata: null,
      url: emulator.url + path,
      links: { notifications: `${emulator.url}${path}/Notifications` },
    });
    time += 10_000;
    emulator.approveChallenge(sid, { metadata: { os: "Android" } });
    expect((await callApi(emulator, "GET", path)).body).toMatchObject({
      status: "approved",
      metadata: { os: "Android" },
      date_updated: "2024-03-05T09:20:10Z",
      date_responded: "2024-03-05T09:20:10Z",
    });
  });

  it("expires, and is then not decided", async () => {
    let time = Date.UTC(2024, 2, 5, 9, 20);
    const emulator = await startEmulator({ now: () => time });
    const { sid } = createChallenge(emulator);
    time += 300_000;
    const path = challengePath(emulator, "ada / zoë", sid);
    expect((await callApi(emulator, "GET", path)).body).toMatchObject({
      status: "expired",
      date_updated: "2024-03-05T09:25:00Z",
    });
    expect(() => emulator.approveChallenge(sid)).toThrow(
      expect.objectContaining({ status: 403, serviceCode: 60323 }),
    );
  });

  it("is found under its own service and entity only", async () => {
    const emulator = await startEmulator();
    const { sid } = createChallenge(emulator);
    const path = challengePath(emulator, "ada / zoë", sid);
    for (const other of [
      challengePath(emulator, "zoë", sid),
      challengePath(emulator, "ada / zoë", `YC${"0".repeat(32)}`),
      path.replace(emulator.serviceSid, `VA${"0".repeat(32)}`),
    ]) {
      expect(await callApi(emulator, "GET", other)).toMatchObject({
        status: 404,
        body: { code: 20404 },
      });
    }
  });
});
