import type { Journal, ReceiverInspection } from "../../core/door";
import type { PushWebhooks } from "../../index";
import type { AdminClient } from "../client/client";
import type { Route } from "../http/route";
import type { JournalView } from "./journal-view";
import type { ConsoleQueue } from "./queue-view";

/** A console, and what it shows. */
export interface OpenConsole {
  client: AdminClient;
  receiver: PushWebhooks | undefined;
  inspection: ReceiverInspection | undefined;
  queue: ConsoleQueue | undefined;
  /** The history of the receiver, or of the queue. */
  journal: Journal;
  view: JournalView;
  readOnly: boolean;
  reveals: boolean;
  /** Names the person who sent a request. */
  readActor(req: Parameters<Route["run"]>[0]): Promise<string | undefined>;
}
