import type { Journal, ReceiverInspection } from "../../core/door";
import type { PushWebhooks } from "../../index";
import type { AdminClient } from "../client/client";
import type { Route } from "../http/route";
import type { JournalView } from "./journal-view";
import type { ConsoleQueue } from "./queue-view";

/** What a console shows. */
export interface ConsoleParts {
  client: AdminClient;
  receiver: PushWebhooks | undefined;
  queue: ConsoleQueue | undefined;
  /** The history of the receiver, or of the queue. */
  journal: Journal;
  readOnly: boolean;
  reveals: boolean;
  /** Names the person who sent a request. */
  readActor(req: Parameters<Route["run"]>[0]): Promise<string | undefined>;
}

/** A console that is open. */
export interface OpenConsole extends ConsoleParts {
  inspection: ReceiverInspection | undefined;
  view: JournalView;
}
