import { createAdminClient, type AdminClient } from "express-push-verification/admin";
import { createVerificationService, type VerificationService } from "./verification-service";

/** Everything that differs between the emulator and the real service. */
export interface Settings {
  accountSid: string;
  authToken: string;
  /** The webhook_url, exactly as configured at the service. */
  publicUrl: string;
  service: VerificationService;
  client: AdminClient;
}

/** A variable of the environment is missing. */
export class SettingsError extends Error {}

/**
 * Reads the settings from the environment: those of the real service, or of the demo.
 *
 * @throws SettingsError
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const read = (name: string): string => {
    const value = env[name];
    if (value === undefined || value === "") throw new SettingsError(`${name} is not set.`);
    return value;
  };
  const accountSid = read("PUSH_ACCOUNT_SID");
  const authToken = read("PUSH_AUTH_TOKEN");
  const serviceSid = read("PUSH_SERVICE_SID");
  const verifyUrl = read("PUSH_VERIFY_URL");
  const credentials = { username: accountSid, password: authToken };
  return {
    accountSid,
    authToken,
    publicUrl: read("PUSH_PUBLIC_URL"),
    service: createVerificationService({ verifyUrl, serviceSid, ...credentials }),
    client: createAdminClient({
      accountUrl: read("PUSH_ACCOUNT_URL"),
      verifyUrl,
      accountSid,
      serviceSid,
      password: authToken,
    }),
  };
}
