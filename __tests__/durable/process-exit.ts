/** A process that closes its queue ends by itself, whatever its store does; run on each engine. */
import { once } from "node:events";
import type { EngineOutage, StoppableEngine } from "../support/engine";

const NONE: EngineOutage = { name: "responds", begin() {}, end() {} };

/** Describes that a process ends after it closed its queue, during an outage too. */
export function describeProcessExit(engine: StoppableEngine): void {
  async function expectExit(during: EngineOutage, afterwards = NONE): Promise<void> {
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
  }

  it.each(
    [NONE, ...engine.outages, ...engine.failures].map((state) => [state.name, state] as const),
  )("while the store %s", (_name, state) => expectExit(state));

  const { freeze, kill } = engine;
  if (kill !== undefined) {
    it("when the store is killed after that", () => expectExit(freeze, kill));
  }
}
