import { PUSH_EVENT_TYPES } from "../../index";
import { hideUserInfo } from "../../kit/url";
import type { Finding, Receiver, Webhook, WebhookChange, WebhookEventType } from "./webhook";

/**
 * Lists the differences between a receiver and the Webhooks of its URL or a similar one. The
 * enabled Webhooks of one URL count together.
 */
export async function checkWebhooks(
  webhooks: AsyncIterable<Webhook> | Iterable<Webhook>,
  receiver: Receiver,
): Promise<Finding[]> {
  const all: Webhook[] = [];
  for await (const webhook of webhooks) all.push(webhook);
  const { publicUrl, publicUrls = [publicUrl] } = receiver;
  const findings = publicUrls.flatMap((url) =>
    compareWebhooks(
      all.filter(({ webhook_url }) => webhook_url === url),
      receiver,
    ),
  );
  const others = all.filter(({ webhook_url }) => !publicUrls.includes(webhook_url ?? ""));
  const own = all.filter((webhook) => !others.includes(webhook));
  // Another port or query beside the right URL is probably of another receiver.
  const simplify = own.length > 0 ? simplifySpelling : simplifyUrl;
  const near: Webhook[] = [];
  for (const webhook of others) {
    const webhookUrl = webhook.webhook_url ?? "";
    const url = publicUrls.find((one) => simplify(webhookUrl) === simplify(one));
    if (url === undefined) continue;
    near.push(webhook);
    const isNeedless = listSentTypes(webhook).every((type) =>
      own.some((one) => isEnabled(one) && sends(one, type)),
    );
    const hasPassword = hideUserInfo(url) !== url;
    findings.push({
      code: "URL_DIFFERS",
      sid: webhook.sid,
      mend: hasPassword || isNeedless ? undefined : update({ webhook_url: url }),
      message: `Its URL is ${showWebhookUrl(webhookUrl)}, and publicUrl is ${showWebhookUrl(url)}: signatures will not match.`,
      fix: isNeedless
        ? "Delete it, unless another receiver has its URL: another Webhook sends its events to publicUrl."
        : "Make both equal, byte for byte.",
    });
  }
  // One finding about a URL that is near.
  const far = all.filter((webhook) => !near.includes(webhook));
  const extending = findExtending(far, publicUrls);
  if (own.length > 0 || near.length > 0) return [...findings, ...extending];
  const message = `No Webhook has the URL ${showWebhookUrl(publicUrl)}.`;
  const fix =
    "Create one with webhooks.ensure(), or set publicUrl to the webhook_url of the Webhook in use.";
  return [{ code: "NOT_CONFIGURED", sid: undefined, message, fix }, ...extending];
}

/** Finds the Webhooks whose URLs begin with one of these, and are longer. */
export function findExtending(all: readonly Webhook[], urls: readonly string[]): Finding[] {
  return all.flatMap(({ sid, webhook_url }) => {
    if (webhook_url === null || urls.includes(webhook_url)) return [];
    const url = urls.find((one) => webhook_url.startsWith(one));
    if (url === undefined) return [];
    const message = `Its URL, ${showWebhookUrl(webhook_url)}, begins with the URL of the receiver, ${showWebhookUrl(url)}: the text that the service signs for it begins like a text for the receiver.`;
    const fix = "Give the receiver a URL that no other URL begins with.";
    return [{ code: "URL_EXTENDS" as const, sid, message, fix }];
  });
}

/** Finds a method that a receiver does not accept. */
export function findMethod(
  { sid, webhook_method }: Webhook,
  methods: readonly string[] = ["POST"],
): Finding[] {
  const method = String(webhook_method);
  if (methods.includes(method)) return [];
  const message = `It sends requests with ${method}, and a receiver with the option methods: ${JSON.stringify(methods)} rejects them with 405.`;
  const fix = `Set the method to ${methods.join(" or ")} in the console of the service, or change the option methods: SECURITY.md says what GET costs.`;
  // The API creates Webhooks that use POST, and changes the method of none.
  const mend = methods.includes("POST") ? ({ action: "replace" } as const) : undefined;
  return [{ code: "METHOD_DIFFERS", sid, mend, message, fix }];
}

function compareWebhooks(webhooks: readonly Webhook[], receiver: Receiver): Finding[] {
  const handled: readonly string[] = receiver.handledTypes();
  const enabled = webhooks.filter(isEnabled);
  const shown = [...enabled];
  const findings: Finding[] = [];
  for (const webhook of webhooks.filter((one) => !isEnabled(one))) {
    const isLeft = (type: string) => !shown.some((one) => sends(one, type));
    const left = listSentTypes(webhook).filter(isLeft);
    // Harmless beside others that send all that is handled.
    if (shown.length > 0 && !left.some((type) => handled.includes(type))) continue;
    shown.push(webhook);
    findings.push(describeDisabled(webhook, left));
  }
  findings.push(...shown.flatMap((webhook) => compareSettings(webhook, receiver)));
  const [first] = shown;
  for (const eventType of PUSH_EVENT_TYPES) {
    if (handled.includes(eventType)) {
      if (first === undefined || shown.some((one) => sends(one, eventType))) continue;
      findings.push({
        code: "EVENT_NOT_SUBSCRIBED",
        sid: first.sid,
        eventType,
        mend: update({ event_types: [...listSentTypes(first), eventType] }),
        message: `${eventType} has a handler, but no Webhook of this URL subscribes to it.`,
        fix: `Add ${JSON.stringify(eventType)} to event_types, or remove the handler.`,
      });
      continue;
    }
    for (const webhook of enabled.filter((one) => sends(one, eventType))) {
      const others = listSentTypes(webhook).filter((type) => type !== eventType);
      const isChallenge = eventType.startsWith("challenge.");
      findings.push({
        code: "EVENT_NOT_HANDLED",
        sid: webhook.sid,
        eventType,
        // A login may wait for it, which this process does not know before its first wait.
        mend:
          sends(webhook, "*") || others.length === 0 || isChallenge
            ? undefined
            : update({ event_types: others }),
        message: `The Webhook subscribes to ${eventType}, which has no handler.`,
        fix: `Add push.on(${JSON.stringify(eventType)}, …), or remove it from event_types${isChallenge ? ", unless logins wait for it with waitForChallenge" : ""}.`,
      });
    }
  }
  return [...findings, ...findDuplicates(webhooks)];
}

/** `types`: no other Webhook sends them. */
function describeDisabled(webhook: Webhook, types: readonly WebhookEventType[]): Finding {
  const { sid, status } = webhook;
  // Enabled with all its types, it would send some events twice.
  const isWhole = types.length === listSentTypes(webhook).length;
  const change = { status: "enabled", ...(!isWhole && { event_types: types }) } as const;
  const also = isWhole
    ? ""
    : `, and event_types to ${JSON.stringify(types)}: other Webhooks of this URL send the rest`;
  return {
    code: "DISABLED",
    sid,
    mend: update(change),
    message: `Its status is ${String(status)}, and no other Webhook of this URL sends ${types.join(", ")}.`,
    fix: `Set status to "enabled"${also}.`,
  };
}

function compareSettings(webhook: Webhook, receiver: Receiver): Finding[] {
  const { sid, version } = webhook;
  const findings = findMethod(webhook, receiver.methods);
  if (version !== "v2") {
    findings.push({
      code: "VERSION_LEGACY",
      sid,
      mend: update({ version: "v2" }),
      message: `It sends ${String(version)} events.`,
      fix: 'Set version to "v2".',
    });
  }
  return findings;
}

/**
 * Finds the enabled Webhooks of one URL that send events which another one sends: of two, the one with
 * fewer types, else the newer.
 */
export function findDuplicates(webhooks: readonly Webhook[]): Finding[] {
  const enabled = webhooks
    .filter(isEnabled)
    .toSorted((a, b) => countTypes(b) - countTypes(a) || compareAge(a, b));
  return enabled.flatMap((webhook, index) => {
    const before = enabled.slice(0, index);
    const isShared = (type: string) => before.some((one) => sends(one, type));
    const types = listSentTypes(webhook);
    const shared = types.filter(isShared);
    const others = types.filter((type) => !isShared(type));
    if (shared.length === 0) return [];
    const isWhole = others.length === 0;
    return {
      code: "DUPLICATE" as const,
      sid: webhook.sid,
      sharedTypes: shared,
      mend: isWhole ? ({ action: "delete" } as const) : update({ event_types: others }),
      message: `Another enabled Webhook of this URL also sends ${shared.join(", ")}: each of these events is sent twice.`,
      fix: isWhole ? "Delete this Webhook." : "Remove these types from its event_types.",
    };
  });
}

/** Whether a Webhook subscribes to a type, also by `*`. */
export function sends({ event_types }: Webhook, type: string): boolean {
  return event_types !== null && (event_types.includes(type) || event_types.includes("*"));
}

/** Whether a Webhook sends requests. */
export function isEnabled({ status }: Webhook): boolean {
  return status === "enabled";
}

/** The oldest first; the service gives whole seconds. */
export function compareAge(a: Webhook, b: Webhook): number {
  const [createdA = 0, createdB = 0] = [a, b].map((one) => Date.parse(one.date_created ?? "") || 0);
  return createdA - createdB;
}

/** The types that a Webhook sends; all of this package for `*`. */
function listSentTypes(webhook: Webhook): WebhookEventType[] {
  return sends(webhook, "*")
    ? [...PUSH_EVENT_TYPES]
    : [...((webhook.event_types ?? []) as WebhookEventType[])];
}

function countTypes(webhook: Webhook): number {
  // `*` also sends types that this package does not know.
  return sends(webhook, "*") ? 1_000 : listSentTypes(webhook).length;
}

function update(change: WebhookChange): Finding["mend"] {
  return { action: "update", change };
}

function showWebhookUrl(url: string): string {
  return JSON.stringify(hideUserInfo(url));
}

/** Removes what often differs: scheme, case, default port, trailing slash, fragment. */
function simplifySpelling(url: string): string {
  return url
    .toLowerCase()
    .replace(/#.*$/s, "")
    .replace(/^https?:\/\/([^/]*@)?/, "")
    .replace(/^([^/?]*):(?:80|443)(?=[/?]|$)/, "$1")
    .replace(/\/+(?=\?|$)/, "");
}

/** Removes the port and the query, too. */
function simplifyUrl(url: string): string {
  return simplifySpelling(url.replace(/\?.*$/s, "")).replace(/:\d+(?=\/|$)/, "");
}
