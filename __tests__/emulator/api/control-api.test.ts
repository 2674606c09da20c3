import { callApi, startEmulator, startReceiver, stopEmulators } from "../../support/emulators";

afterEach(stopEmulators);

describe("the control API", () => {
  it("runs the life of a factor and its challenges over HTTP", async () => {
    const emulator = await startEmulator();
    const receiver = await startReceiver(emulator.authToken);
    emulator.createWebhook({ webhook_url: receiver.publicUrl });
    const call = (method: string, path: string, json?: object) =>
      callApi(emulator, method, `/_control/${path}`, json && { json });

    const factor = await call("POST", "factors", { entity_identity: "u1", metadata: { os: "x" } });
    expect(factor).toMatchObject({
      status: 201,
      body: { entity_identity: "u1", status: "unverified" },
    });
    const factorPath = `factors/${factor.body.sid}`;
    expect(await call("POST", `${factorPath}/verify`)).toMatchObject({
      status: 200,
      body: { status: "verified" },
    });
    expect(await call("GET", factorPath)).toMatchObject({
      status: 200,
      body: { status: "verified" },
    });

    const given = { factor_sid: factor.body.sid, details: { message: "Sign in?" } };
    const [first, second] = [
      await call("POST", "challenges", given),
      await call("POST", "challenges", given),
    ];
    expect(first).toMatchObject({
      status: 201,
      body: { status: "pending", details: { message: "Sign in?" } },
    });
    const decision = { metadata: { biometrics: "face" } };
    expect(await call("POST", `challenges/${first.body.sid}/approve`, decision)).toMatchObject({
      status: 200,
      body: { status: "approved", ...decision },
    });
    expect(await call("POST", `challenges/${second.body.sid}/deny`)).toMatchObject({ status: 200 });
    expect(await call("GET", `challenges/${second.body.sid}`)).toMatchObject({
      body: { status: "denied" },
    });
    expect(await call("DELETE", factorPath)).toMatchObject({ status: 204, body: undefined });

    const { body } = await call("GET", "deliveries?settled=true");
    expect(body.deliveries.map(({ status }: { status: string }) => status)).toEqual(
      Array(5).fill("succeeded"),
    );
    expect(body.deliveries[0].response.status).toBe(200);
    expect((await call("GET", "deliveries")).body.deliveries).toHaveLength(5);
    expect(receiver.events).toHaveLength(5);
  });

  it("injects and removes faults", async () => {
    const emulator = await startEmulator();
    const receiver = await startReceiver(emulator.authToken);
    emulator.createWebhook({ webhook_url: receiver.publicUrl });
    const faults = (method: string, json?: object) =>
      callApi(emulator, method, "/_control/faults", json && { json });
    expect((await faults("POST", { kind: "wrong-signature", times: 9 })).status).toBe(204);
    emulator.createFactor();
    await emulator.settled();
    expect((await faults("DELETE")).status).toBe(204);
    emulator.createFactor();
    await emulator.settled();
    expect(emulator.deliveries.map(({ status }) => status)).toEqual(["failed", "succeeded"]);
  });

  it.each([
    ["POST", "factors", "[]", 400, 20001],
    ["POST", "factors", "{", 400, 20001],
    ["POST", "factors", '{"metadata":{"a":1}}', 400, 60200],
    ["POST", "factors/YFx/verify", "", 404, 20404],
    ["DELETE", "factors/YFx", "", 404, 20404],
    ["POST", "challenges", "{}", 400, 60200],
    ["POST", "challenges/YCx/approve", "", 404, 20404],
    ["POST", "faults", '{"kind":"explode"}', 400, 60200],
    ["PUT", "factors", "{}", 405, 20004],
    ["GET", "nothing", "", 501, 20501],
    ["POST", "factors", "{}", 400, 20001, "text/plain"],
  ])("rejects %s %s %s", async (method, path, body, status, code, type = "application/json") => {
    const emulator = await startEmulator();
    const response = await fetch(`${emulator.url}/_control/${path}`, {
      method,
      headers: {
        authorization: `Basic ${btoa(`${emulator.accountSid}:${emulator.authToken}`)}`,
        "content-type": type,
      },
      ...(body !== "" && { body }),
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code, status });
  });

  it("rejects Standard keys", async () => {
    const emulator = await startEmulator();
    for (const [type, status] of [
      ["main", 201],
      ["standard", 401],
    ] as const) {
      const { sid, secret } = emulator.createKey({ type });
      const options = { as: [sid, secret] as [string, string], json: {} };
      expect((await callApi(emulator, "POST", "/_control/factors", options)).status).toBe(status);
    }
  });
});
