import type { QueueErrorCode } from "../queue-error";
import type { FileNews, MethodName } from "./operations";
import type { SqliteSettings } from "./options";

/** What the thread is started with. */
export type ThreadSettings = Pick<SqliteSettings, "file" | "name" | "dedupeTtlMs" | "outcomeTtlMs">;

/** A call of a method on its way to the thread; `"close"` has the thread close the file and end. */
export type FileRequest =
  readonly [id: number, method: MethodName, args: readonly unknown[]] | "close";

/** What went wrong in the thread; errors lose their code when they are posted. */
export interface ThreadFailure {
  code: string | undefined;
  message: string;
  /** Of a file that cannot be used. */
  fileCode?: QueueErrorCode;
}

/** What the thread posts. */
export type ThreadMessage =
  | { type: "open" }
  /** The file is closed, and the thread ends. */
  | { type: "closed"; failure: ThreadFailure }
  | { type: "done"; id: number; value: unknown }
  | { type: "failed"; id: number; failure: ThreadFailure }
  | { type: "news"; news: FileNews };
