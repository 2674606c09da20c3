import type { Webhook } from "../../client/webhook";
import type { ConsoleSettings, FindingView } from "../console-view";
import { send } from "./api";

/** One page of the console. */
export interface ConsolePage {
  id: string;
  title: string;
  element: HTMLElement;
  /** Called each time that the page is shown. */
  show(): void;
  /** Called when another page is shown. */
  hide?(): void;
}

/** What the pages share. */
export interface Context {
  settings: ConsoleSettings;
  /** The webhooks and their findings, as they were read last. */
  webhooks: SharedWebhooks;
}

/** The state of the webhooks. */
export interface WebhookState {
  webhooks: readonly Webhook[];
  findings: readonly FindingView[];
  /** Why the findings are missing. */
  findingsError: unknown;
}

/** Reads the webhooks and compares them with the receiver, for the pages and the navigation. */
export interface SharedWebhooks {
  readonly state: WebhookState | undefined;
  /** Why the webhooks are missing; undefined when they are not. */
  readonly error: unknown;
  readonly isLoading: boolean;
  reload(): Promise<void>;
  onChange(listener: () => void): void;
}

/** Creates the webhooks, which are not read yet. */
export function createSharedWebhooks({ receiver }: ConsoleSettings): SharedWebhooks {
  const listeners: (() => void)[] = [];
  let count = 0;
  const shared = {
    state: undefined as WebhookState | undefined,
    error: undefined as unknown,
    isLoading: false,
    async reload(): Promise<void> {
      const mine = ++count;
      shared.isLoading = true;
      try {
        const [webhooks, checked] = await Promise.all([listWebhooks(), check()]);
        if (mine !== count) return;
        shared.state = { webhooks, ...checked };
        shared.error = undefined;
      } catch (error) {
        if (mine !== count) return;
        shared.error = error;
      } finally {
        if (mine === count) shared.isLoading = false;
      }
      for (const listener of listeners) listener();
    },
    onChange(listener: () => void) {
      listeners.push(listener);
    },
  };

  async function check(): Promise<Pick<WebhookState, "findings" | "findingsError">> {
    if (receiver === undefined) return { findings: [], findingsError: undefined };
    try {
      const { findings } = await send<{ findings: FindingView[] }>("GET", "console/findings");
      return { findings, findingsError: undefined };
    } catch (error) {
      return { findings: [], findingsError: error };
    }
  }

  return shared;
}

const MAX_PAGES = 20;

/** All pages of the list: a service has few webhooks, and findings must stand beside each. */
async function listWebhooks(): Promise<Webhook[]> {
  const webhooks: Webhook[] = [];
  let query = "?page_size=100";
  for (let page = 0; page < MAX_PAGES; page++) {
    const list = await send<{ webhooks: Webhook[]; meta: { next_page_url: string | null } }>(
      "GET",
      `webhooks${query}`,
    );
    webhooks.push(...list.webhooks);
    const next = readQuery(list.meta.next_page_url);
    if (next === undefined) break;
    query = next;
  }
  return webhooks;
}

/** The query of a link: its path may not be that of the page, behind a proxy that rewrites it. */
export function readQuery(link: string | null): string | undefined {
  return link === null ? undefined : `?${link.split("?")[1] ?? ""}`;
}
