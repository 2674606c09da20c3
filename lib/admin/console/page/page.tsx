import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { announce, Announcer } from "./action";
import { describeProblem, ProblemError, session, settings, settingsLoader } from "./api";
import { Age, LoadedValue, Pill, SignedOut, type Tone } from "./blocks";
import { openedDialog } from "./dialog";
import { plural } from "./format";
import { journal, POLL_MS } from "./journal";
import { KeysPage, NewSecrets } from "./keys-page";
import { IdleQueue, queue, QueuePage } from "./queue-page";
import { RequestsPage } from "./requests-page";
import { linkTo, place } from "./route";
import { useEvery, useStores, type Loader } from "./store";
import { webhooks } from "./webhooks";
import { WebhooksPage } from "./webhooks-page";

/** On its own page, and on the others. */
const QUEUE_REFRESH_MS = [5_000, 15_000] as const;
/** Each asks the service. */
const WEBHOOKS_REFRESH_MS = 60_000;

const PAGES = [
  { id: "requests", title: "Receiver", Page: RequestsPage },
  { id: "webhooks", title: "Webhooks", Page: WebhooksPage },
  { id: "keys", title: "Keys", Page: KeysPage },
  { id: "queue", title: "Queue", Page: QueuePage },
] as const;

/** The whole page. Without an export, esbuild would wrap this module, and each that it imports. */
export function App() {
  useStores();
  return (
    <LoadedValue loader={settingsLoader} what="console">
      {() => <Console />}
    </LoadedValue>
  );
}

function Console() {
  const { receiver, hasQueue } = settings;
  useEvery(POLL_MS, journal.refresh);
  useEvery(WEBHOOKS_REFRESH_MS, webhooks.refresh);
  const pages = PAGES.filter(({ id }) =>
    id === "requests" ? receiver : id !== "queue" || hasQueue,
  );
  const shown = pages.find(({ id }) => id === place.value.page) ?? pages[0] ?? PAGES[1];
  const { title, Page } = shown;
  const refreshMs = QUEUE_REFRESH_MS[Page === QueuePage ? 0 : 1];
  useEvery(refreshMs, () => hasQueue && queue.refresh());
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
          {pages.map(({ id, title: name }) => (
            <a key={id} href={linkTo(id)} aria-current={id === shown.id ? "page" : undefined}>
              {name}
              {id === "webhooks" && (
                <Badge loader={webhooks} count={webhooks.value?.findings.length} thing="finding" />
              )}
              {id === "queue" && (
                <Badge loader={queue} count={queue.value?.deadLetters} thing="dead letter" />
              )}
            </a>
          ))}
        </nav>
      </header>
      <main id="content" tabIndex={-1} ref={content}>
        <SignedOut />
        <IdleQueue />
        <NewSecrets />
        <Page />
      </main>
      {openedDialog.value}
      <Announcer />
    </>
  );
}

/** Whether the list is up to date, in words; the banner of the page says that a session has ended. */
function describeConnection(): [tone: Tone, text: string] {
  const { error, atMs } = journal;
  if (session.value.isOver) return ["bad", "Signed out"];
  if (error === undefined) return ["good", atMs === undefined ? "Connecting" : "Up to date"];
  const isLost = error instanceof ProblemError && error.status === 0;
  return ["bad", isLost ? "Connection lost, trying again" : describeProblem(error)];
}

function Bar() {
  const { name, receiver, readOnly } = settings;
  const [tone, text] = describeConnection();
  return (
    <div class="bar">
      <h1>
        Push webhooks {name !== undefined && <Pill tone="info">{name}</Pill>}{" "}
        {readOnly && <Pill tone="off">read-only</Pill>}
      </h1>
      {receiver && (
        <p class="buttons">
          <span role="status">
            <Pill tone={tone}>{text}</Pill>
          </span>
          <Age atMs={journal.atMs} />
        </p>
      )}
    </div>
  );
}

interface BadgeProps {
  loader: Loader<unknown>;
  count: number | undefined;
  thing: string;
}

/** How many things of a page need attention. */
function Badge({ loader, count = 0, thing }: BadgeProps) {
  const isKnown = loader.error === undefined;
  if (isKnown && count === 0) return null;
  const [figure, ...words] = (isKnown ? plural(count, thing) : `? ${thing}s unknown`).split(" ");
  return (
    <Pill tone="bad">
      {figure}
      <span class="unseen"> {words.join(" ")}</span>
    </Pill>
  );
}

addEventListener("unhandledrejection", ({ reason }) => announce(describeProblem(reason)));
// In an older browser, page.html stays: it says which one the console needs.
if (CSS.supports("color", "light-dark(#000, #fff)")) {
  document.body.replaceChildren();
  render(<App />, document.body);
}
