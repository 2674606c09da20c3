import { getEventListeners } from "node:events";
import { onAbort } from "../../lib/challenge/abort-signal";

describe("onAbort", () => {
  it("runs each listener once", () => {
    const stop = new AbortController();
    const runs: string[] = [];
    for (const name of ["a", "b"]) onAbort(stop.signal, () => void runs.push(name));
    stop.abort();
    expect(runs).toEqual(["a", "b"]);
  });

  it("does not run a removed listener, even if another listener removed it", () => {
    const stop = new AbortController();
    const runs: string[] = [];
    onAbort(stop.signal, () => {
      runs.push("a");
      removeB();
    });
    const removeB = onAbort(stop.signal, () => void runs.push("b"));
    stop.abort();
    expect(runs).toEqual(["a"]);
  });

  it("attaches one listener to a signal, and detaches it with the last", () => {
    const { signal } = new AbortController();
    const count = () => getEventListeners(signal, "abort").length;
    const removals = [1, 2, 3].map(() => onAbort(signal, () => {}));
    expect(count()).toBe(1);
    for (const remove of removals) {
      remove();
      remove();
    }
    expect(count()).toBe(0);
    onAbort(signal, () => {});
    expect(count()).toBe(1);
  });
});
