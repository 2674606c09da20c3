import { render, type ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ConsoleSettings } from "../console-view";
import { ActionButton } from "./action-button";
import { announce, Announcer } from "./announcer";
import { describeProblem, send } from "./api";
import { OpenDialog } from "./dialog";
import { formatCount } from "./format";
import { useKeyboard } from "./keyboard";
import { KeysPage, useUnstoredKeys } from "./keys-page";
import { followReceiver, live } from "./live";
import { QueuePage, queue, useQueueEvery } from "./queue-page";
import { EmptyState, Received } from "./received";
import { RequestsPage } from "./requests-page";
import { linkTo, place } from "./route";
import { setSettings, settings } from "./settings";
import { useStore } from "./store";
import { webhooks } from "./webhooks";
import { WebhooksPage } from "./webhooks-page";

/** For the count in the navigation. */
const BADGE_REFRESH_MS = 30_000;

interface PageEntry {
  id: string;
  title: string;
  Page: ComponentType;
  Badge?: ComponentType;
}

function listPages(): PageEntry[] {
  const { receiver, hasQueue } = settings;
  return [
    ...(receiver === undefined ? [] : [{ id: "requests", title: "Receiver", Page: RequestsPage }]),
    { id: "webhooks", title: "Webhooks", Page: WebhooksPage, Badge: FindingsBadge },
    { id: "keys", title: "Keys", Page: KeysPage, Badge: SecretsBadge },
    ...(hasQueue ? [{ id: "queue", title: "Queue", Page: QueuePage, Badge: LettersBadge }] : []),
  ];
}

function Console() {
  const pages = listPages();
  const { page: id } = useStore(place);
  const shown = pages.find((page) => page.id === id) ?? pages[0];
  const title = shown?.title ?? "";
  const content = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useKeyboard();
  useEffect(() => {
    document.title = `${title} · Push webhooks`;
    if (!isFirst.current) {
      scrollTo(0, 0);
      content.current?.querySelector("h2")?.focus();
    }
    isFirst.current = false;
  }, [title]);
  return (
    <>
      <button type="button" class="skip" id="skip" onClick={() => content.current?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <Bar />
        <nav aria-label="Pages">
          <ul class="nav">
            {pages.map((page) => (
              <li key={page.id}>
                <a href={linkTo(page.id)} aria-current={page.title === title ? "page" : undefined}>
                  {page.title}
                  {page.Badge !== undefined && <page.Badge />}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      <main id="content" tabIndex={-1} ref={content}>
        {shown !== undefined && <shown.Page />}
      </main>
      <OpenDialog />
      <Announcer />
    </>
  );
}

function Bar() {
  const { name, receiver, readOnly } = settings;
  const [publicUrl, ...others] = receiver?.publicUrls ?? [];
  return (
    <div class="bar">
      <h1>
        Push webhooks {name !== undefined && <span class="pill info">{name}</span>}{" "}
        {readOnly && <span class="pill off">read-only</span>}
      </h1>
      {publicUrl !== undefined && (
        <p class="address">
          <Received text={publicUrl} mono />
          {others.length > 0 && ` and ${others.length} more`}
        </p>
      )}
      {receiver !== undefined && <LiveState />}
    </div>
  );
}

const LIVE_TEXTS = {
  connecting: "Connecting",
  live: "Live",
  lost: "Connection lost, trying again",
  forbidden: "Signed out or not allowed",
  refused: "Not connected",
};

function LiveState() {
  const { state, problem } = useStore(live);
  return (
    <p class={`live ${state}`} role="status">
      <span class="dot" aria-hidden="true" />
      {state === "refused" ? problem : LIVE_TEXTS[state]}
      {state === "forbidden" && (
        <button type="button" onClick={() => location.reload()}>
          Sign in again
        </button>
      )}
    </p>
  );
}

function Badge({ count, one }: { count: number | undefined; one: string }) {
  if (count === 0) return null;
  return (
    <>
      {" "}
      <span class={count === undefined ? "badge unknown" : "badge"}>
        {count === undefined ? "?" : formatCount(count)}
        <span class="word">
          {" "}
          {count === undefined ? `${one}s unknown` : count === 1 ? one : `${one}s`}
        </span>
      </span>
    </>
  );
}

function FindingsBadge() {
  const { value, error } = useStore(webhooks.store);
  useEffect(() => void (settings.receiver !== undefined && webhooks.reload()), []);
  if (value === undefined && error === undefined) return null;
  return <Badge count={error === undefined ? value?.findings?.length : undefined} one="finding" />;
}

function SecretsBadge() {
  return <Badge count={useUnstoredKeys()} one="secret" />;
}

function LettersBadge() {
  const { value } = useStore(queue.store);
  useQueueEvery(BADGE_REFRESH_MS);
  return <Badge count={value?.deadLetters ?? 0} one="dead letter" />;
}

async function start(): Promise<void> {
  try {
    setSettings(await send<ConsoleSettings>("GET", "console"));
    if (settings.receiver !== undefined) void followReceiver();
    render(<Console />, document.body);
  } catch (error) {
    render(
      <main class="panel">
        <EmptyState title="The console could not start.">
          <p>{describeProblem(error)}</p>
          <ActionButton label="Try again" run={start} />
        </EmptyState>
      </main>,
      document.body,
    );
  }
}

addEventListener("unhandledrejection", () => announce("The page itself failed. Reload it."));
document.body.replaceChildren();
void start();
