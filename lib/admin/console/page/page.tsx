import { type ComponentType, render } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { announce, Announcer, Button } from "./action";
import { describeProblem, loadSettings, settings } from "./api";
import { EmptyState, Pill } from "./blocks";
import { OpenDialog } from "./dialog";
import { formatCount } from "./format";
import { useKeyboard } from "./keyboard";
import { KeysPage, useUnstoredKeys } from "./keys-page";
import { connection, followReceiver } from "./live";
import { IdleQueue, queue, QueuePage } from "./queue-page";
import { Received } from "./received";
import { RequestsPage } from "./requests-page";
import { linkTo, place } from "./route";
import { useEvery, useStore } from "./store";
import { findings, webhooks } from "./webhooks";
import { WebhooksPage } from "./webhooks-page";

/** For the count in the navigation. */
const BADGE_REFRESH_MS = 30_000;

/** A page, with the number and the noun of its things that need attention; undefined when not known. */
type PageEntry = readonly [
  id: string,
  title: string,
  Page: ComponentType,
  count: number | undefined,
  thing?: string,
];

function usePages(): PageEntry[] {
  const { receiver, hasQueue } = settings;
  const { value = [], error } = useStore(findings);
  const findingCount = error === undefined ? value.length : undefined;
  const queued = useStore(queue);
  const deadLetters = queued.error === undefined ? (queued.value?.deadLetters ?? 0) : undefined;
  useEffect(() => void (receiver !== undefined && webhooks.reload()), []);
  useEvery(BADGE_REFRESH_MS, () => hasQueue && queue.reload());
  const pages: PageEntry[] = [
    ["webhooks", "Webhooks", WebhooksPage, findingCount, "finding"],
    ["keys", "Keys", KeysPage, useUnstoredKeys(), "secret"],
  ];
  if (receiver !== undefined) pages.unshift(["requests", "Receiver", RequestsPage, 0]);
  if (hasQueue) pages.push(["queue", "Queue", QueuePage, deadLetters, "dead letter"]);
  return pages;
}

function Console() {
  const pages = usePages();
  const { page } = useStore(place);
  const [shown, title, Page] = pages.find(([id]) => id === page) ?? (pages[0] as PageEntry);
  const content = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useKeyboard();
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
          {pages.map(([id, text, , count, thing = ""]) => (
            <a key={id} href={linkTo(id)} aria-current={id === shown ? "page" : undefined}>
              {text}
              <Badge count={count} thing={thing} />
            </a>
          ))}
        </nav>
      </header>
      <main id="content" tabIndex={-1} ref={content}>
        <IdleQueue />
        <Page />
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
        Push webhooks {name !== undefined && <Pill tone="info">{name}</Pill>}{" "}
        {readOnly && <Pill tone="off">read-only</Pill>}
      </h1>
      {publicUrl !== undefined && (
        <p class="address muted">
          <Received text={publicUrl} class="mono" />
          {others.length > 0 && ` and ${others.length} more`}
        </p>
      )}
      {receiver !== undefined && <Connection />}
    </div>
  );
}

function Connection() {
  const [look, text] = useStore(connection);
  return (
    <p class={`connection ${look}`} role="status">
      {text}
      {look === "forbidden" && <Button run={() => location.reload()}>Sign in again</Button>}
    </p>
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
    if (settings.receiver !== undefined) void followReceiver();
    render(<Console />, document.body);
  } catch (error) {
    render(
      <main>
        <EmptyState title="The console could not start.">
          <p>{describeProblem(error)}</p>
          <Button run={start}>Try again</Button>
        </EmptyState>
      </main>,
      document.body,
    );
  }
}

addEventListener("unhandledrejection", ({ reason }) => announce(describeProblem(reason)));
document.body.replaceChildren();
void start();
