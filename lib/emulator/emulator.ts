import { createAccountRoutes } from "./account-api";
import { createRouter } from "./api";
import { createControlRoutes } from "./control-api";
import { authenticate } from "./credentials";
import { createDeliveries, type Delivery, type DeliveryListener } from "./deliveries";
import { createFactors, type Factors } from "./factors";
import { createFaults, type Fault } from "./faults";
import type { KeyResource, NewKey } from "./key";
import { createKeys, toKeyResource } from "./keys";
import { resolveEmulatorOptions, type EmulatorOptions } from "./options";
import { createApiServer } from "./server";
import { createVerifyRoutes } from "./verify-api";
import type { NewWebhook, WebhookResource } from "./webhook";
import { createWebhooks, toWebhookFields } from "./webhooks";

/** The service of the specification, in this process; see {@link createEmulator}. */
export interface Emulator extends Factors, AsyncDisposable {
  readonly accountSid: string;
  readonly authToken: string;
  /** What the fault `"old-token"` signs with. */
  readonly previousAuthToken: string;
  readonly serviceSid: string;
  /** The header that holds the signature of calls. */
  readonly signatureHeader: string;
  /**
   * Where both APIs are served: `{base_url}` and `{verify_url}` of the specification.
   *
   * @throws Error unless the emulator listens.
   */
  readonly url: string;
  /** The newest deliveries, oldest first. */
  readonly deliveries: Delivery[];
  /**
   * Serves both APIs, and under `/_control` a control API with the methods of this object. The
   * control API is `@experimental`: it may change in a minor version.
   *
   * @param port 0, the default, takes a free one.
   * @param host default `"127.0.0.1"`.
   * @returns the url.
   */
  listen(port?: number, host?: string): Promise<string>;
  /** Makes a key, also a Main one, and shows its secret. */
  createKey(key?: NewKey): KeyResource & { secret: string };
  /** Makes a webhook: by default for all events, in v2. */
  createWebhook(webhook: NewWebhook): Omit<WebhookResource, "url">;
  /** Makes something go wrong with the next calls. */
  injectFault(fault: Fault): void;
  /** Forgets the faults that did not happen yet. */
  clearFaults(): void;
  /** Adds a listener, told of every delivery when it is finished. */
  onDelivery(listener: DeliveryListener): void;
  /** Resolves when no call is on its way any more. */
  settled(): Promise<void>;
  /** Stops serving, and ends what is on its way. */
  close(): Promise<void>;
}

/**
 * Makes the service of the specification for development and tests: keys and webhooks over HTTP,
 * factors and challenges by method, and signed calls to the webhooks' receivers.
 *
 * @example
 * const emulator = createEmulator();
 * await emulator.listen(0);
 * emulator.createWebhook({ webhook_url: "http://127.0.0.1:3000/webhooks/push" });
 * const factor = emulator.createFactor();
 * emulator.verifyFactor(factor.sid);
 * const challenge = emulator.createChallenge({ factor_sid: factor.sid });
 * emulator.approveChallenge(challenge.sid);
 * await emulator.settled();
 *
 * @throws TypeError for an option that is unknown or impossible; EmulatorError (by its methods)
 *   with the service's number as `serviceCode`, and `status`, for what the service rejects.
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const settings = resolveEmulatorOptions(options);
  const { accountSid, authToken, previousAuthToken, serviceSid, signatureHeader, now } = settings;
  const keys = createKeys(now, settings.maxKeys);
  const webhooks = createWebhooks(now, settings.webhookMethod);
  const faults = createFaults();
  const deliveries = createDeliveries(settings, faults);
  const factors = createFactors(now, (type, fields) => {
    const call = { ...fields, type, account_sid: accountSid, service_sid: serviceSid };
    for (const webhook of webhooks.listFor(type)) deliveries.deliver(webhook, call);
  });
  const server = createApiServer({
    authenticate: (authorization) => authenticate(authorization, settings, keys),
    route: createRouter([
      ...createAccountRoutes(accountSid, keys),
      ...createVerifyRoutes(settings, webhooks),
      ...createControlRoutes({ factors, deliveries, faults }),
    ]),
  });
  for (const key of settings.keys) keys.create(key);
  for (const webhook of settings.webhooks) webhooks.create(webhook);

  async function close(): Promise<void> {
    await Promise.all([server.close(), deliveries.close()]);
  }

  return {
    accountSid,
    authToken,
    previousAuthToken,
    serviceSid,
    signatureHeader,
    ...factors,
    get url() {
      return server.url;
    },
    get deliveries() {
      return deliveries.list();
    },
    async listen(port = 0, host = "127.0.0.1") {
      await server.listen(port, host);
      return server.url;
    },
    createKey(key = {}) {
      const created = keys.create(key);
      return { ...toKeyResource(created), secret: created.secret };
    },
    createWebhook: (webhook) => toWebhookFields(webhooks.create(webhook), settings),
    injectFault: faults.inject,
    clearFaults: faults.clear,
    onDelivery: deliveries.onDelivery,
    settled: deliveries.settled,
    close,
    [Symbol.asyncDispose]: close,
  };
}
