import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { announce, Announcer, Button } from "./action";
import { describeProblem, loadSettings, settings } from "./api";
import { Age, Pill, SignedOut } from "./blocks";
import { openedDialog } from "./dialog";
import { formatCount } from "./format";
import { onKey } from "./keyboard";
import { describeConnection, journal, POLL_MS } from "./journal";
import { createdKeys, KeysPage } from "./keys-page";
import { IdleQueue, queue, QueuePage } from "./queue-page";
import { Received } from "./received";
import { RequestsPage } from "./requests-page";
import { linkTo, place } from "./route";
import { useEvery, useStores } from "./store";
import { findings, webhooks } from "./webhooks";
import { WebhooksPage } from "./webhooks-page";

const QUEUE_REFRESH_MS = 15_000;
/** Each asks the service. */
const WEBHOOKS_REFRESH_MS = 60_000;

const PAGES = [
  { id: "requests", title: "Receiver", thing: "", Page: RequestsPage },
  { id: "webhooks", title: "Webhooks", thing: "finding", Page: WebhooksPage },
  { id: "keys", title: "Keys", thing: "secret", Page: KeysPage },
  { id: "queue", title: "Queue", thing: "dead letter", Page: QueuePage },
] as const;

/** How many things of each page need attention; undefined when not known. */
function useCounts(): Record<string, number | undefined> {
  const hasReceiver = settings.receiver !== undefined;
  useEvery(POLL_MS, journal.refresh);
  useEvery(WEBHOOKS_REFRESH_MS, () => hasReceiver && webhooks.refresh());
  useEvery(QUEUE_REFRESH_MS, () => settings.hasQueue && queue.refresh());
  return {
    requests: 0,
    webhooks: findings.error === undefined ? (findings.value ?? []).length : undefined,
    keys: createdKeys.value.length,
    queue: queue.error === undefined ? (queue.value?.deadLetters ?? 0) : undefined,
  };
}

function Console() {
  useStores();
  const counts = useCounts();
  const { receiver, hasQueue } = settings;
  const pages = PAGES.filter(({ id }) =>
    id === "requests" ? receiver : id !== "queue" || hasQueue,
  );
  const shown = pages.find(({ id }) => id === place.value.page) ?? pages[0] ?? PAGES[1];
  const { title, Page } = shown;
  const content = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  // Before the effect of a target, which scrolls to it.
  useLayoutEffect(() => {
    document.title = `${title} · Push webhooks`;
    if (!isFirst.current) {
      scrollTo(0, 0);
      content.current?.querySelector("h2")?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [title]);
  return (
    <>
      <button type="button" class="unseen" id="skip" onClick={() => content.current?.focus()}>
        Skip to the content
      </button>
      <header>
        <Bar />
        <nav aria-label="Pages">
          {pages.map((page) => (
            <a
              key={page.id}
              href={linkTo(page.id)}
              aria-current={page === shown ? "page" : undefined}
            >
              {page.title}
              <Badge count={counts[page.id]} thing={page.thing} />
            </a>
          ))}
        </nav>
      </header>
      <main id="content" tabIndex={-1} ref={content}>
        <SignedOut />
        <IdleQueue />
        <Page />
      </main>
      {openedDialog.value}
      <Announcer />
    </>
  );
}

function Bar() {
  const { name, receiver, readOnly } = settings;
  const { look, text } = describeConnection();
  const [publicUrl, ...others] = receiver?.publicUrls ?? [];
  return (
    <div class="bar">
      <h1>
        Push webhooks {name !== undefined && <Pill tone="info">{name}</Pill>}{" "}
        {readOnly && <Pill tone="off">read-only</Pill>}
      </h1>
      {publicUrl !== undefined && (
        <p class="address muted">
          <Received text={publicUrl} class="mono" />
          {others.length > 0 && ` and ${others.length} more`}
        </p>
      )}
      {receiver !== undefined && (
        <p class={`connection ${look}`}>
          <span role="status">{text}</span>
          <Age atMs={journal.atMs} />
        </p>
      )}
    </div>
  );
}

function Badge({ count, thing }: { count: number | undefined; thing: string }) {
  if (count === 0) return null;
  return (
    <span class="badge">
      {count === undefined ? "?" : formatCount(count)}
      <span class="word">
        {` ${thing}${count === 1 ? "" : "s"}${count === undefined ? " unknown" : ""}`}
      </span>
    </span>
  );
}

/** Starts the console. Without an export, esbuild would wrap this module, and each that it imports. */
export async function start(): Promise<void> {
  try {
    await loadSettings();
    render(<Console />, document.body);
  } catch (error) {
    render(
      <main>
        <p class="state">The console could not start. {describeProblem(error)}</p>
        <Button label="Try again" run={start} />
      </main>,
      document.body,
    );
  }
}

addEventListener("keydown", onKey);
addEventListener("unhandledrejection", ({ reason }) => announce(describeProblem(reason)));
// In an older browser, page.html stays: it says which one the console needs.
if (CSS.supports("color", "light-dark(#000, #fff)")) {
  document.body.replaceChildren();
  void start();
}
