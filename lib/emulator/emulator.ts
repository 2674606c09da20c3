import { createAccountEndpoints } from "./api/account-api";
import { createEndpointRouter } from "./api/endpoint-router";
import { createControlEndpoints } from "./api/control-api";
import { authenticate } from "./api/credentials";
import { Deliveries, type WebhookDelivery } from "./outbound/deliveries";
import { createAccessTokens } from "./resources/access-tokens";
import { createDevice, type Device } from "./resources/device";
import { Entities } from "./resources/entities";
import { createFactors, type FactorControl } from "./resources/factor-control";
import { createFaults, type Fault } from "./outbound/faults";
import { createKeys, toKeyResource, type KeyResource, type NewKey } from "./resources/keys";
import { resolveEmulatorOptions, type EmulatorOptions, type NewWebhook } from "./options";
import { ApiServer } from "./api/server";
import { createVerifyEndpoints } from "./api/verify-api";
import { createWebhooks, type WebhookResource } from "./resources/webhooks";

/**
 * Emulated service of the specification, in this process; see {@link createEmulator}.
 *
 * @throws EmulatorError (from the methods) `NOT_FOUND` for a SID that is not known,
 *   `PARAMETER_INVALID` for an invalid field, and the codes that a method names.
 */
export interface Emulator extends FactorControl, AsyncDisposable {
  readonly accountSid: string;
  /** The current one; see {@link Emulator.rotateAuthToken}. */
  readonly authToken: string;
  /** Auth token that the fault `"old-token"` signs with. */
  readonly previousAuthToken: string;
  readonly serviceSid: string;
  /** Name of the signature header of webhook requests. */
  readonly signatureHeader: string;
  /** Base URL of both APIs, `{base_url}` and `{verify_url}`. @throws Error unless it listens. */
  readonly url: string;
  /** The newest deliveries, the oldest first; a new array each time, of live objects. */
  readonly deliveries: WebhookDelivery[];
  /**
   * Serves both APIs, and under `/_control` a control API with the methods of this object. The
   * control API is `@experimental`: it may change in a minor version.
   *
   * @param port the port; 0, the default, selects a free one.
   * @param host the address to bind, also a host that is accepted; by default `"127.0.0.1"`.
   * @returns the {@link Emulator.url}.
   * @throws Error when the port is in use, or the emulator already listens or is closed.
   */
  listen(port?: number, host?: string): Promise<string>;
  /** Creates a key, also a Main key, and returns it with its secret. */
  createKey(key?: NewKey): KeyResource & { secret: string };
  /** Creates a webhook, by default for all events, in v2. */
  createWebhook(webhook: NewWebhook): Omit<WebhookResource, "url">;
  /**
   * Makes another auth token the primary one: from now on it signs the webhook requests, and the
   * APIs accept no other. The former one becomes {@link Emulator.previousAuthToken}.
   */
  rotateAuthToken(authToken: string): void;
  /** Creates a device with a private key, which registers itself and answers challenges. */
  device(): Device;
  /** Adds a fault to the next webhook requests. */
  injectFault(fault: Fault): void;
  /** Removes the faults that have not happened yet. */
  clearFaults(): void;
  /** Adds a listener that receives each delivery when it is finished. */
  onDelivery(listener: (delivery: WebhookDelivery) => void): void;
  /** Resolves when no delivery is pending. */
  settled(): Promise<void>;
  /** Closes the server and aborts the pending deliveries. */
  close(): Promise<void>;
}

/**
 * Creates an emulator of the service for development and tests: it serves keys and webhooks over
 * HTTP, changes factors and challenges by method, and sends signed webhook requests for each event.
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
 * @throws TypeError for an unknown or invalid option; EmulatorError, from the methods.
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const settings = resolveEmulatorOptions(options);
  const { accountSid, serviceSid, signatureHeader, now } = settings;
  const keys = createKeys(now, settings.maxKeys);
  const webhooks = createWebhooks(settings);
  const accessTokens = createAccessTokens(now);
  const faults = createFaults();
  const deliveries = new Deliveries(settings, faults);
  const entities = new Entities(now, settings.identities, (type, fields) => {
    const event = { ...fields, type, account_sid: accountSid, service_sid: serviceSid };
    for (const webhook of webhooks.listFor(type)) deliveries.deliver(webhook, event);
  });
  const factors = createFactors(entities);
  const server = new ApiServer(
    settings.allowedHosts,
    (authorization) => authenticate(authorization, settings, keys, accessTokens),
    createEndpointRouter([
      createAccountEndpoints(accountSid, keys),
      createVerifyEndpoints(settings, webhooks, entities, accessTokens),
      createControlEndpoints(factors, deliveries, faults),
    ]),
  );
  for (const key of settings.keys) keys.create(key);
  for (const webhook of settings.webhooks) webhooks.create(webhook);

  async function close(): Promise<void> {
    await Promise.all([server.close(), deliveries.close()]);
  }

  return {
    accountSid,
    get authToken() {
      return settings.authToken;
    },
    get previousAuthToken() {
      return settings.previousAuthToken;
    },
    serviceSid,
    signatureHeader,
    ...factors,
    get url() {
      return server.url;
    },
    get deliveries() {
      return deliveries.list();
    },
    listen: async (port = 0, host = "127.0.0.1") => server.listen(port, host),
    createKey(key = {}) {
      const created = keys.create(key);
      return { ...toKeyResource(created), secret: created.secret };
    },
    createWebhook: (webhook) => structuredClone(webhooks.create(webhook)),
    rotateAuthToken(authToken) {
      const resolved = resolveEmulatorOptions({ authToken });
      settings.previousAuthToken = settings.authToken;
      settings.authToken = resolved.authToken;
    },
    device: () => createDevice(entities),
    injectFault: faults.inject,
    clearFaults: faults.clear,
    onDelivery: (listener) => deliveries.onDelivery(listener),
    settled: () => deliveries.settled(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
