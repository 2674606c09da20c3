import type { Emulator } from "express-push-verification/emulator";
import { callApi, startEmulator, stopEmulators } from "../../support/emulators";

afterEach(stopEmulators);

const IDENTITY = "ada / zoë";
const challengePath = ({ serviceSid }: Emulator, identity: string, sid: string) =>
  `/v2/Services/${serviceSid}/Entities/${encodeURIComponent(identity)}/Challenges/${sid}`;

async function start() {
  const clock = { nowMs: Date.UTC(2024, 2, 5, 9, 20) };
  const emulator = await startEmulator({ now: () => clock.nowMs });
  const { sid: factor_sid } = emulator.createFactor({ entity_identity: IDENTITY });
  emulator.verifyFactor(factor_sid);
  const details = { message: "Sign in?" };
  const hidden_details = { ip: "203.0.113.77" };
  const { sid } = emulator.createChallenge({ factor_sid, details, hidden_details });
  return { emulator, clock, factor_sid, sid, path: challengePath(emulator, IDENTITY, sid) };
}

describe("a challenge over REST", () => {
  it("is shown with every member, before and after the decision", async () => {
    const { emulator, clock, factor_sid, sid, path } = await start();
    const { sid: username, secret } = emulator.createKey({ type: "standard" });
    const pending = await callApi(emulator, "GET", path, { as: [username, secret] });
    expect(pending).toMatchObject({ status: 200 });
    expect(pending.body).toEqual({
      sid,
      account_sid: emulator.accountSid,
      service_sid: emulator.serviceSid,
      entity_sid: expect.stringMatching(/^YE[0-9a-f]{32}$/),
      identity: IDENTITY,
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
    clock.nowMs += 10_000;
    emulator.approveChallenge(sid, { metadata: { os: "Android" } });
    expect((await callApi(emulator, "GET", path)).body).toMatchObject({
      status: "approved",
      metadata: { os: "Android" },
      date_updated: "2024-03-05T09:20:10Z",
      date_responded: "2024-03-05T09:20:10Z",
    });
  });

  it("expires, and is then not decided", async () => {
    const { emulator, clock, sid, path } = await start();
    clock.nowMs += 300_000;
    const expired = { status: "expired", date_updated: "2024-03-05T09:25:00Z" };
    expect((await callApi(emulator, "GET", path)).body).toMatchObject(expired);
    const rejection = expect.objectContaining({ status: 403, serviceCode: 60323 });
    expect(() => emulator.approveChallenge(sid)).toThrow(rejection);
  });

  it("is found under its own service and entity only", async () => {
    const { emulator, sid, path } = await start();
    for (const other of [
      challengePath(emulator, "zoë", sid),
      challengePath(emulator, IDENTITY, `YC${"0".repeat(32)}`),
      path.replace(emulator.serviceSid, `VA${"0".repeat(32)}`),
    ]) {
      const rejected = { status: 404, body: { code: 20404 } };
      expect(await callApi(emulator, "GET", other)).toMatchObject(rejected);
    }
  });
});
