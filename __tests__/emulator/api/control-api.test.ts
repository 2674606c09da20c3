import { callApi, startEmulator, startReceiver, stopEmulators } from "../../support/emulators";

afterEach(stopEmulators);

async function start() {
  const emulator = await startEmulator();
  const receiver = await startReceiver(emulator.authToken);
  emulator.createWebhook({ webhook_url: receiver.publicUrl });
  const call = (method: string, path: string, json?: object) =>
    callApi(emulator, method, `/_control/${path}`, json && { json });
  return { emulator, receiver, call };
}

describe("the control API", () => {
  it("runs the life of a factor and its challenges over HTTP", async () => {
    const { receiver, call } = await start();
    const factor = await call("POST", "factors", { entity_identity: "u1", metadata: { os: "x" } });
    const unverified = { entity_identity: "u1", status: "unverified" };
    expect(factor).toMatchObject({ status: 201, body: unverified });
    const factorPath = `factors/${factor.body.sid}`;
    const verified = { status: 200, body: { status: "verified" } };
    expect(await call("POST", `${factorPath}/verify`)).toMatchObject(verified);
    expect(await call("GET", factorPath)).toMatchObject(verified);

    const given = { factor_sid: factor.body.sid, details: { message: "Sign in?" } };
    const first = await call("POST", "challenges", given);
    const second = await call("POST", "challenges", given);
    const pending = { status: "pending", details: { message: "Sign in?" } };
    expect(first).toMatchObject({ status: 201, body: pending });
    const decision = { metadata: { biometrics: "face" } };
    expect(await call("POST", `challenges/${first.body.sid}/approve`, decision)).toMatchObject({
      status: 200,
      body: { status: "approved", ...decision },
    });
    expect(await call("POST", `challenges/${second.body.sid}/deny`)).toMatchObject({ status: 200 });
    const { body: denied } = await call("GET", `challenges/${second.body.sid}`);
    expect(denied).toMatchObject({ status: "denied" });
    expect(await call("DELETE", factorPath)).toMatchObject({ status: 204, body: undefined });

    const { deliveries } = (await call("GET", "deliveries?settled=true")).body;
    const delivered = { status: "succeeded", response: { status: 200 } };
    expect(deliveries).toMatchObject(Array(5).fill(delivered));
    expect((await call("GET", "deliveries")).body.deliveries).toHaveLength(5);
    expect(receiver.events).toHaveLength(5);
  });

  it("injects and removes faults", async () => {
    const { emulator, call } = await start();
    expect(await call("POST", "faults", { kind: "wrong-signature", times: 9 })).toHaveProperty(
      "status",
      204,
    );
    emulator.createFactor();
    await emulator.settled();
    expect(await call("DELETE", "faults")).toHaveProperty("status", 204);
    emulator.createFactor();
    await emulator.settled();
    expect(emulator.deliveries.map(({ status }) => status)).toEqual(["failed", "succeeded"]);
  });
});
