import { PUSH_EVENT_TYPES } from "../../event/event";
import { hideUserInfo } from "../../form/url";
import type { Webhook, WebhookEventType } from "./webhook";

/** Receiver to compare with the Webhooks, such as the result of `pushWebhooks()`. */
export interface Receiver {
  /** URL that the signatures are verified with. */
  readonly publicUrl: string;
  /** All URLs of the receiver while a domain moves. @default publicUrl alone */
  readonly publicUrls?: readonly string[] | undefined;
  /** Returns the event types that have a handler. */
  handledTypes(): readonly Exclude<WebhookEventType, "*">[];
}

/** One difference between a Webhook and a receiver (configuration drift). */
export interface Finding {
  /** The kind of difference; `switch` over it. */
  readonly code:
    | "NOT_CONFIGURED"
    | "URL_DIFFERS"
    | "DUPLICATE"
    | "DISABLED"
    | "METHOD_DIFFERS"
    | "VERSION_LEGACY"
    | "EVENT_NOT_SUBSCRIBED"
    | "EVENT_NOT_HANDLED";
  /** SID of the Webhook; undefined for `NOT_CONFIGURED`. */
  readonly sid: string | undefined;
  /** What differs. */
  readonly message: string;
  /** What to change. */
  readonly fix: string;
}

/**
 * Lists the differences between a receiver and the Webhooks of its URL, compared byte for byte. When
 * no Webhook has that URL, reports those with a similar URL.
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
    return [...compared, ...exact.slice(1).map(describeDuplicate)];
  });
  if (all.some(({ webhook_url }) => publicUrls.includes(webhook_url ?? ""))) return findings;
  const near = all.filter(({ webhook_url }) =>
    publicUrls.some((url) => simplifyUrl(webhook_url ?? "") === simplifyUrl(url)),
  );
  if (near.length > 0) return near.map((webhook) => describeNearUrl(webhook, publicUrl));
  return [
    {
      code: "NOT_CONFIGURED",
      sid: undefined,
      message: `No Webhook has the URL ${showWebhookUrl(publicUrl)}.`,
      fix: "Create one with webhooks.ensure(), or set publicUrl to the webhook_url of the Webhook in use.",
    },
  ];
}

function compareWebhook(webhook: Webhook, receiver: Receiver): Finding[] {
  const { sid, status, version, webhook_method } = webhook;
  const subscribed = new Set(webhook.event_types ?? []);
  const handled = new Set<string>(receiver.handledTypes());
  const findings: Finding[] = [];
  const add = (code: Finding["code"], message: string, fix: string) =>
    void findings.push({ code, sid, message, fix });

  if (status !== "enabled") {
    const message = `Its status is ${String(status)}, so it sends no requests.`;
    add("DISABLED", message, 'Set status to "enabled".');
  }
  if (webhook_method !== "POST") {
    add(
      "METHOD_DIFFERS",
      `It sends requests with ${String(webhook_method)}.`,
      "Set the method to POST in the console: servers and proxies log the query of a GET.",
    );
  }
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

function describeDuplicate(webhook: Webhook): Finding {
  return {
    code: "DUPLICATE",
    sid: webhook.sid,
    message: "Another Webhook has the same URL: events that both subscribe to are sent twice.",
    fix: "Delete one of the two.",
  };
}

function describeNearUrl(webhook: Webhook, publicUrl: string): Finding {
  return {
    code: "URL_DIFFERS",
    sid: webhook.sid,
    message: `Its URL is ${showWebhookUrl(webhook.webhook_url)}, and publicUrl is ${showWebhookUrl(publicUrl)}: signatures will not match.`,
    fix: "Make both equal, byte for byte.",
  };
}

function showWebhookUrl(url: string | null): string {
  return JSON.stringify(hideUserInfo(url ?? ""));
}

/** Removes the parts that often differ: scheme, port, case, trailing slash, query, fragment. */
function simplifyUrl(url: string): string {
  return url
    .toLowerCase()
    .replace(/[?#].*$/s, "")
    .replace(/^https?:\/\/([^/]*@)?/, "")
    .replace(/:\d+(?=\/|$)/, "")
    .replace(/\/+$/, "");
}
