import { createAdminClient, type AdminClient } from "express-push-verification/admin";
import { createEmulator } from "express-push-verification/emulator";
import { createSimulatedPhone, type SimulatedPhone } from "./simulated-phone";
import {
  createEmulatedService,
  createHttpService,
  type VerificationService,
} from "./verification-service";

/** Everything that differs between the emulator and the real service. */
export interface Settings {
  accountSid: string;
  authToken: string;
  /** The webhook_url, exactly as configured at the service. */
  publicUrl: string;
  signatureHeader: string;
  service: VerificationService;
  client: AdminClient;
  /** Undefined with the real service: its users have phones. */
  phone: SimulatedPhone | undefined;
  close(): Promise<void>;
}

/** Starts an emulator with the phone of `user`. */
export async function emulateService(appUrl: string, user: string): Promise<Settings> {
  const emulator = createEmulator();
  await emulator.listen(0);
  const { accountSid, serviceSid, authToken, signatureHeader, url } = emulator;
  const client = createAdminClient({
    accountUrl: url,
    verifyUrl: url,
    accountSid,
    serviceSid,
    password: authToken,
  });
  const publicUrl = `${appUrl}/webhooks/push`;
  await client.webhooks.ensure({
    friendly_name: "login",
    event_types: ["*"],
    webhook_url: publicUrl,
  });
  const phone = createSimulatedPhone(emulator, user, "Zoë's phone");
  return {
    accountSid,
    authToken,
    publicUrl,
    signatureHeader,
    service: createEmulatedService(emulator, phone),
    client,
    phone,
    async close() {
      phone.close();
      await emulator.close();
    },
  };
}

/** Reads the settings of the real service from the environment. */
export function readServiceSettings(env: NodeJS.ProcessEnv): Settings {
  const read = (name: string): string => {
    const value = env[name];
    if (value === undefined || value === "") throw new Error(`${name} is not set.`);
    return value;
  };
  const accountSid = read("PUSH_ACCOUNT_SID");
  const authToken = read("PUSH_AUTH_TOKEN");
  const serviceSid = read("PUSH_SERVICE_SID");
  const verifyUrl = read("PUSH_VERIFY_URL");
  return {
    accountSid,
    authToken,
    publicUrl: read("PUSH_PUBLIC_URL"),
    signatureHeader: env.PUSH_SIGNATURE_HEADER ?? "X-Service-Signature",
    service: createHttpService({
      verifyUrl,
      serviceSid,
      username: accountSid,
      password: authToken,
    }),
    client: createAdminClient({
      accountUrl: read("PUSH_ACCOUNT_URL"),
      verifyUrl,
      accountSid,
      serviceSid,
      password: authToken,
    }),
    phone: undefined,
    close: () => Promise.resolve(),
  };
}
