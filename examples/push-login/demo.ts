import { AS_PUBLIC_SERVICE, createEmulator } from "express-push-verification/emulator";
import type { LoginAttempts } from "./login-attempts";
import { createSimulatedPhone, type SimulatedPhone } from "./simulated-phone";

/** The emulated service with a phone, in place of the real ones. */
export interface Demo {
  /** The environment that the real service would need. */
  env: Record<string, string>;
  phone: SimulatedPhone;
  close(): Promise<void>;
}

/** Starts an emulator with the phone of the user with this identity. */
export async function startDemo(
  appUrl: string,
  entityIdentity: string,
  attempts: LoginAttempts,
): Promise<Demo> {
  const emulator = createEmulator(AS_PUBLIC_SERVICE);
  await emulator.listen(0);
  const publicUrl = `${appUrl}/webhooks/push`;
  emulator.createWebhook({ webhook_url: publicUrl, friendly_name: "login" });
  const phone = createSimulatedPhone(emulator, entityIdentity, "Zoë's phone", attempts);
  return {
    env: {
      PUSH_ACCOUNT_SID: emulator.accountSid,
      PUSH_AUTH_TOKEN: emulator.authToken,
      PUSH_SERVICE_SID: emulator.serviceSid,
      PUSH_ACCOUNT_URL: emulator.url,
      PUSH_VERIFY_URL: emulator.url,
      PUSH_PUBLIC_URL: publicUrl,
    },
    phone,
    close: () => emulator.close(),
  };
}
