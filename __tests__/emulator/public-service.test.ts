/** The emulator as the public service is: its header, content type and identities. */
import { AS_PUBLIC_SERVICE, createEmulator } from "express-push-verification/emulator";
import { callApi, startEmulator, stopEmulators } from "../support/emulators";
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
  for (const end of isValid ? ["", ""] : ["", "", "!"]) {
    lenient.createFactor({ entity_identity: entity_identity + end });
  }
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
