/** Handles stored events. */
import { openQueue } from "./engine";
import { logEvents } from "./log-events";

logEvents(openQueue(process.env, { backoff: 200 }));
process.send?.("ready");
