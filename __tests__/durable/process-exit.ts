/** A process that closes its queue ends by itself, whatever its store does; run on each engine. */
import { once } from "node:events";
import type { EngineOutage, StoppableEngine } from "../support/engine";

const NONE: EngineOutage = { name: "responds", begin() {}, end() {} };

/** Describes that a process ends after it closed its queue, during an outage too. */
export function describeProcessExit(engine: StoppableEngine): void {
  const { outages, failures, freeze, kill } = engine;
  const states = [NONE, ...outages, ...failures].map((state) => [state.name, state, NONE] as const);
  const killed = kill === undefined ? [] : [["is frozen, then killed", freeze, kill] as const];

  it.each([...states, ...killed])("while the store %s", async (_name, during, afterwards) => {
    const child = await engine.startProcess(() => {});
    await during.begin();
    try {
      const exited = once(child, "exit");
      child.send("close");
      await once(child, "disconnect");
      await afterwards.begin();
      expect(await exited).toEqual([0, null]);
    } finally {
      await afterwards.end();
      await during.end();
    }
  });
}
