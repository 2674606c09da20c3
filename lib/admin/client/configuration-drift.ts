import { PUSH_EVENT_TYPES } from "../../event/event";
import { hideUserInfo } from "../../form/url";
import type { Finding, Webhook, WebhookEventType } from "./webhook";

/** Receiver to compare with the Webhooks, such as the result of `pushWebhooks()`. */
export interface Receiver {
  /** URL that the signatures are verified with. */
  readonly publicUrl: string;
  /** All URLs of the receiver while a domain moves. @default publicUrl alone */
  readonly publicUrls?: readonly string[] | undefined;
  /** Methods that the receiver accepts. @default ["POST"] */
  readonly methods?: readonly string[] | undefined;
  /** Returns the event types that have a handler. */
  handledTypes(): readonly Exclude<WebhookEventType, "*">[];
}

/**
 * Lists the differences between a receiver and the Webhooks of its URL, compared byte for byte, and
 * reports those with a similar URL.
 */
export async function checkWebhooks(
  webhooks: AsyncIterable<Webhook>,
  receiver: Receiver,
): Promise<Finding[]> {
  const all: Webhook[] = [];
  for await (const webhook of webhooks) all.push(webhook);
  const { publicUrl, publicUrls = [publicUrl] } = receiver;
  const findings = publicUrls.flatMap((url) => {
    const exact = all.filter(({ webhook_url }) => webhook_url === url);
    const compared = exact.flatMap((webhook) => compareWebhook(webhook, receiver));
    const duplicates = exact.slice(1).map(({ sid }) => ({
      code: "DUPLICATE" as const,
      sid,
      message: "Another Webhook has the same URL: events that both subscribe to are sent twice.",
      fix: "Delete one of the two.",
    }));
    return [...compared, ...duplicates];
  });
  const others = all.filter(({ webhook_url }) => !publicUrls.includes(webhook_url ?? ""));
  const isConfigured = others.length < all.length;
  // Another port or query beside the right URL is probably that of another receiver.
  const simplify = isConfigured ? simplifySpelling : simplifyUrl;
  const near = others.filter(({ webhook_url }) =>
    publicUrls.some((url) => simplify(webhook_url ?? "") === simplify(url)),
  );
  for (const { sid, webhook_url } of near) {
    const message = `Its URL is ${showWebhookUrl(webhook_url)}, and publicUrl is ${showWebhookUrl(publicUrl)}: signatures will not match.`;
    findings.push({ code: "URL_DIFFERS", sid, message, fix: "Make both equal, byte for byte." });
  }
  // One finding about a URL that is near.
  const far = all.filter((webhook) => !near.includes(webhook));
  const extending = findExtending(far, publicUrls);
  if (isConfigured || near.length > 0) return [...findings, ...extending];
  const message = `No Webhook has the URL ${showWebhookUrl(publicUrl)}.`;
  const fix =
    "Create one with webhooks.ensure(), or set publicUrl to the webhook_url of the Webhook in use.";
  return [{ code: "NOT_CONFIGURED", sid: undefined, message, fix }, ...extending];
}

/** Lists the findings about the Webhooks whose URLs begin with one of these URLs, and are longer. */
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

/** Lists the finding about the method of a Webhook, if a receiver does not accept it. */
export function findMethod(
  { sid, webhook_method }: Webhook,
  methods: readonly string[] = ["POST"],
): Finding[] {
  const method = String(webhook_method);
  if (methods.includes(method)) return [];
  const message = `It sends requests with ${method}, and a receiver with the option methods: ${JSON.stringify(methods)} rejects them with 405.`;
  const fix = `Set the method to ${methods.join(" or ")} in the console of the service, or change the option methods: SECURITY.md says what GET costs.`;
  return [{ code: "METHOD_DIFFERS", sid, message, fix }];
}

function compareWebhook(webhook: Webhook, receiver: Receiver): Finding[] {
  const { sid, status, version } = webhook;
  const subscribed = new Set(webhook.event_types ?? []);
  const handled = new Set<string>(receiver.handledTypes());
  const findings: Finding[] = [];
  const add = (code: Finding["code"], message: string, fix: string) =>
    void findings.push({ code, sid, message, fix });

  if (status !== "enabled") {
    const message = `Its status is ${String(status)}, so it sends no requests.`;
    add("DISABLED", message, 'Set status to "enabled".');
  }
  findings.push(...findMethod(webhook, receiver.methods));
  if (version !== "v2") {
    add("VERSION_LEGACY", `It sends ${String(version)} events.`, 'Set version to "v2".');
  }
  for (const type of PUSH_EVENT_TYPES) {
    const isSubscribed = subscribed.has(type) || subscribed.has("*");
    if (handled.has(type) && !isSubscribed) {
      const message = `${type} has a handler, but the Webhook does not subscribe to it.`;
      const fix = `Add ${JSON.stringify(type)} to event_types, or remove the handler.`;
      add("EVENT_NOT_SUBSCRIBED", message, fix);
    } else if (isSubscribed && !handled.has(type)) {
      const message = `The Webhook subscribes to ${type}, which has no handler.`;
      const fix = `Add push.on(${JSON.stringify(type)}, …), or remove it from event_types.`;
      add("EVENT_NOT_HANDLED", message, fix);
    }
  }
  return findings;
}

function showWebhookUrl(url: string | null): string {
  return JSON.stringify(hideUserInfo(url ?? ""));
}

/** Removes the parts that often differ between URLs of one receiver: scheme, case, default port, trailing slash, fragment. */
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
