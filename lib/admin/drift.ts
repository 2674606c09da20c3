import { PUSH_EVENT_TYPES } from "../event";
import { hideUserInfo } from "../url";
import type { Webhook, WebhookEventType } from "./webhook";

/** A receiver to compare with; `pushWebhooks()` returns one. */
export interface Receiver {
  /** The URL that its signatures are verified with. */
  readonly publicUrl: string;
  /** All of them, while a domain moves. @default publicUrl alone */
  readonly publicUrls?: readonly string[] | undefined;
  /** Returns the event types that have a handler. */
  handledTypes(): readonly Exclude<WebhookEventType, "*">[];
}

/** One difference between a configured Webhook and a receiver. */
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
  /** The Webhook that it is about, if there is one. */
  readonly sid: string | undefined;
  /** What differs. */
  readonly message: string;
  /** What to change. */
  readonly fix: string;
}

/**
 * Compares a receiver with the Webhooks of a service: those for its URL, byte for byte, or, where
 * there is none, those that nearly have it.
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
      message: `No Webhook has the URL ${show(publicUrl)}.`,
      fix: "Create one with webhooks.ensure(), or set publicUrl to the webhook_url of the one you mean.",
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
    add(
      "DISABLED",
      `Its status is ${String(status)}: it sends nothing.`,
      'Set status to "enabled".',
    );
  }
  if (webhook_method !== "POST") {
    add(
      "METHOD_DIFFERS",
      `It calls with ${String(webhook_method)}.`,
      "Set the method to POST in the console: the query of a GET ends up in logs.",
    );
  }
  if (version !== "v2") {
    add("VERSION_LEGACY", `It sends ${String(version)} calls.`, 'Set version to "v2".');
  }
  for (const type of PUSH_EVENT_TYPES) {
    const isSubscribed = subscribed.has(type) || subscribed.has("*");
    if (handled.has(type) && !isSubscribed) {
      add(
        "EVENT_NOT_SUBSCRIBED",
        `${type} has a handler, and is not sent.`,
        `Add ${JSON.stringify(type)} to event_types, or remove the handler.`,
      );
    } else if (isSubscribed && !handled.has(type)) {
      add(
        "EVENT_NOT_HANDLED",
        `${type} is sent, and has no handler.`,
        `Add push.on(${JSON.stringify(type)}, …), or take it out of event_types.`,
      );
    }
  }
  return findings;
}

function describeDuplicate(webhook: Webhook): Finding {
  return {
    code: "DUPLICATE",
    sid: webhook.sid,
    message: "Another Webhook has this URL, too: what both subscribe to is sent twice.",
    fix: "Delete one of the two.",
  };
}

function describeNearUrl(webhook: Webhook, publicUrl: string): Finding {
  return {
    code: "URL_DIFFERS",
    sid: webhook.sid,
    message: `Its URL is ${show(webhook.webhook_url)}, and publicUrl is ${show(publicUrl)}: signatures will not match.`,
    fix: "Make the two equal, byte for byte.",
  };
}

function show(url: string | null): string {
  return JSON.stringify(hideUserInfo(url ?? ""));
}

/** A URL without what people get wrong: scheme, port, case, trailing slash, query, fragment. */
function simplifyUrl(url: string): string {
  return url
    .toLowerCase()
    .replace(/[?#].*$/s, "")
    .replace(/^https?:\/\/([^/]*@)?/, "")
    .replace(/:\d+(?=\/|$)/, "")
    .replace(/\/+$/, "");
}
