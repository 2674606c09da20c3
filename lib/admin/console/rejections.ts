import type { ObservedRequest } from "../../receiver/inspection";
import type { Rejections } from "./console-view";

/** Of more sources, those that sent last are kept. */
const MAX_SOURCES = 5;

/** Counts the rejected requests by code and by source, in bounded memory. */
export function createRejections() {
  const byCode = new Map<string, Omit<Rejections, "sources"> & { sources: Map<string, Source> }>();
  type Source = Rejections["sources"][number];

  return {
    add({ error, request, headers }: ObservedRequest, atMs: number): void {
      if (error === undefined || error.status >= 500) return;
      const { code } = error;
      const entry = byCode.get(code) ?? {
        code,
        count: 0,
        firstAtMs: atMs,
        lastAtMs: atMs,
        sources: new Map<string, Source>(),
      };
      byCode.set(code, entry);
      entry.count++;
      entry.lastAtMs = atMs;
      const read = (header: string) => headers.find(([name]) => name === header)?.[1];
      const names = {
        address: request.remoteAddress,
        forwardedFor: read("x-forwarded-for"),
        userAgent: read("user-agent"),
      };
      const key = JSON.stringify(names);
      const { sources } = entry;
      const { count = 0 } = sources.get(key) ?? {};
      sources.delete(key);
      sources.set(key, { ...names, count: count + 1, lastAtMs: atMs });
      const [oldest = ""] = sources.keys();
      if (sources.size > MAX_SOURCES) sources.delete(oldest);
    },
    /** Lists the codes; of each, the source that sent last comes first. */
    list: (): Rejections[] =>
      [...byCode.values()].map(({ code, count, firstAtMs, lastAtMs, sources }) => {
        return { code, count, firstAtMs, lastAtMs, sources: [...sources.values()].toReversed() };
      }),
  };
}
