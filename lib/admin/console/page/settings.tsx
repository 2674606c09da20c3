import type { ConsoleSettings } from "../console-view";

/** The settings of this console: they are set before anything that needs them is drawn. */
export let settings: ConsoleSettings;

/** Sets them, once. */
export function setSettings(loaded: ConsoleSettings): void {
  settings = loaded;
}

/** The URL that a webhook of the receiver should have. */
export function readPublicUrl(): string {
  return settings.receiver?.publicUrls[0] ?? "";
}
