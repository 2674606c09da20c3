import type { DedupeStore } from "./dedupe-store";
import { createDeliverOnce, deliverEach } from "./deliver-once";
import { WebhookError } from "../errors/webhook-error";
import { createRetry, within } from "./retry";
import { createNeutralCause } from "../errors/neutral-cause";

/** How long `push.close()` awaits `close` of a store. */
const CLOSE_MS = 5_000;

/** A store that one or more receivers use. */
interface OpenStore {
  isReady: boolean;
  /** The promise of `init` while it runs. */
  initializing: Promise<void> | undefined;
  receiverCount: number;
}

// Receivers may share a store: closing one of them must not close it for the others.
const openStores = new WeakMap<DedupeStore, OpenStore>();

/**
 * Creates the deduplication of a receiver. Calls `init` of the store unless another receiver
 * already called it; claims wait for it, and call it again after a failure.
 *
 * @param store `false` runs the handlers for each delivery.
 * @param onStoreFailure receives `STORE_UNAVAILABLE` if the first `init`, a mark or `close` fails.
 */
export function createDedupe(
  store: DedupeStore | false,
  onStoreFailure: (error: WebhookError) => void,
) {
  if (store === false) return { deliverOnce: deliverEach, close: () => Promise.resolve() };
  const reportFailureOf = (method: "init" | "close") => (error: unknown) => {
    const message = `${method} of the dedupe store failed; see the cause.`;
    const cause = createNeutralCause(error);
    onStoreFailure(new WebhookError("STORE_UNAVAILABLE", message, { cause }));
  };
  const opened = open(store);
  if (!opened.isReady) initialize(store, opened).catch(reportFailureOf("init"));
  let closed: Promise<void> | undefined;

  const readyStore: DedupeStore = {
    claim: (claim) =>
      opened.isReady
        ? store.claim(claim)
        : initialize(store, opened).then(() => store.claim(claim)),
    complete: (key) => store.complete(key),
    release: (key) => store.release(key),
  };
  return {
    deliverOnce: createDeliverOnce(readyStore, createRetry(), onStoreFailure),
    /** Closes the store unless another receiver uses it; awaits it for up to 5 s. Never rejects. */
    close: (): Promise<void> =>
      (closed ??= within(leave(store, opened), CLOSE_MS).catch(reportFailureOf("close"))),
  };
}

function open(store: DedupeStore): OpenStore {
  const isReady = store.init === undefined;
  const opened = openStores.get(store) ?? { isReady, initializing: undefined, receiverCount: 0 };
  opened.receiverCount++;
  openStores.set(store, opened);
  return opened;
}

function initialize(store: DedupeStore, opened: OpenStore): Promise<void> {
  return (opened.initializing ??= (async () => {
    try {
      await store.init?.();
      opened.isReady = true;
    } finally {
      opened.initializing = undefined;
    }
  })());
}

async function leave(store: DedupeStore, opened: OpenStore): Promise<void> {
  if (--opened.receiverCount > 0) return;
  openStores.delete(store);
  // Closed also if init failed: the store may have opened connections.
  await opened.initializing?.catch(() => "initialize() reported it");
  await store.close?.();
}
