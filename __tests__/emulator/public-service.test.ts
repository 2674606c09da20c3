/** The emulator as the public service is: its header, content type and identities. */
import { AS_PUBLIC_SERVICE, createEmulator } from "express-push-verification/emulator";
import { callApi, startEmulator, startReceiver, stopEmulators } from "../support/emulators";
import { startCommand } from "../support/terminals";
import { useWarnings } from "../support/warnings";

const warnings = useWarnings();
afterEach(stopEmulators);

it.each([
  ["12345678", true],
  ["user-7f3a-22", true],
  ["7d4c2f0e-6c1b-4d0e-9d3a-1b2c3d4e5f60", true],
  ["a".repeat(64), true],
  ["a".repeat(65), false],
  ["1234567", false],
  ["ada", false],
  ["ada@example.com", false],
  ["user_7f3a_22", false],
  ["../../../x", false],
  ["Zoë-12345", false],
  ["user-7f3a-22\n", false],
])("the identity %j is valid: %s", async (entity_identity, isValid) => {
  const lenient = createEmulator();
  for (let times = 0; times < 2; times++) lenient.createFactor({ entity_identity });
  expect(warnings.listCodes()).toEqual(isValid ? [] : ["IDENTITY_INVALID"]);
  expect(warnings.listMessages().join()).not.toContain(entity_identity);

  const strict = await startEmulator(AS_PUBLIC_SERVICE);
  const json = { entity_identity };
  const create = [
    () => strict.createFactor(json),
    () => strict.device().register(json),
    () => callApi(strict, "POST", "/_control/factors", { json }).then(({ body }) => body),
  ];
  for (const one of create) {
    const code = isValid ? undefined : expect.stringMatching(/PARAMETER_INVALID|60200/);
    const created = await (async () => one())().catch((error: unknown) => error);
    const { code: found } = created as { code?: string | number };
    expect(found && String(found)).toEqual(code);
  }
});

it.each<[name: string, args: string, env: NodeJS.ProcessEnv, header: string, type: string]>([
  ["the specification", "", {}, "X-Service-Signature", "application/x-www-urlencoded"],
  [
    "the public service",
    "--as-public-service",
    {},
    "X-Twilio-Signature",
    "application/x-www-form-urlencoded",
  ],
  [
    "a header of its own",
    "--as-public-service --signature-header X-Own",
    {},
    "X-Own",
    "application/x-www-form-urlencoded",
  ],
  [
    "the environment",
    "--as-public-service",
    { PUSH_SIGNATURE_HEADER: "X-Env" },
    "X-Env",
    "application/x-www-form-urlencoded",
  ],
])("the emulator of the command line signs as %s", async (_name, args, env, header, type) => {
  const { publicUrl } = await startReceiver("secret-token", { signatureHeader: header });
  const line = `emulator --port 0 --json --webhook-url ${publicUrl} ${args}`.trim().split(" ");
  const { run, written, interrupt, waitFor } = startCommand(line, {
    PUSH_AUTH_TOKEN: "secret-token",
    ...env,
  });
  await waitFor(/\n/);
  const { PUSH_ACCOUNT_URL: url, PUSH_ACCOUNT_SID: sid } = JSON.parse(written.stdout);
  await callApi({ url } as never, "POST", "/_control/factors", { as: [sid, "secret-token"] });
  await waitFor(/\n.*\n/);
  interrupt();
  await run;
  const { request, response } = JSON.parse(written.stdout.split("\n")[1] ?? "");
  expect(response.status).toBe(200);
  expect(request.headers).toMatchObject({ "Content-Type": type, [header]: expect.any(String) });
});
