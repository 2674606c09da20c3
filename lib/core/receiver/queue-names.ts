import type { PushWebhooksSettings } from "./options";

/** The open receivers of each queue, by the name that their events have in it. */
const receiversByQueue = new WeakMap<object, Map<string, Set<PushWebhooksSettings>>>();

/**
 * Claims the name of a receiver in its queue: with static tokens, it stands for the account of the
 * events, so receivers of one name must have the same tokens and accounts. Returns its release.
 *
 * @throws TypeError when a receiver with other tokens or accounts has the name.
 */
export function claimQueueName(settings: PushWebhooksSettings): () => void {
  const { queue, name = settings.publicUrls.at(-1) ?? "" } = settings;
  if (queue === undefined) return () => {};
  const receivers = receiversByQueue.get(queue) ?? new Map<string, Set<PushWebhooksSettings>>();
  receiversByQueue.set(queue, receivers);
  const sameName = receivers.get(name) ?? new Set();
  for (const other of sameName) {
    if (hasSameAccounts(other, settings)) continue;
    throw new TypeError(
      `pushWebhooks: another receiver of the queue is called ${JSON.stringify(name)} and has another authToken or other allowedAccountSids, so events of one could complete logins of the other. Give each receiver a name.`,
    );
  }
  receivers.set(name, sameName.add(settings));
  return () => void sameName.delete(settings);
}

function hasSameAccounts(one: PushWebhooksSettings, other: PushWebhooksSettings): boolean {
  const [accounts, others] = [one, other].map(({ authToken, allowedAccountSids = [] }) =>
    JSON.stringify([[authToken].flat(), [...allowedAccountSids].toSorted()]),
  );
  const hasResolver = typeof one.authToken === "function" || typeof other.authToken === "function";
  return accounts === others && (!hasResolver || one.authToken === other.authToken);
}
