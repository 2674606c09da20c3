import { subscribe, unsubscribe } from "node:diagnostics_channel";

const PREFIX = "express-push-verification:";

export function useChannels(...names: string[]) {
  const published: [name: string, message: unknown][] = [];
  const collect = (message: unknown, name: string | symbol) =>
    void published.push([String(name).slice(PREFIX.length), message]);
  beforeEach(() => {
    published.length = 0;
    for (const name of names) subscribe(PREFIX + name, collect);
  });
  afterEach(() => {
    for (const name of names) unsubscribe(PREFIX + name, collect);
  });
  return published;
}
