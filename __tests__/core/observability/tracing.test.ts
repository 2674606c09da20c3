import { tracingChannel } from "node:diagnostics_channel";
import { trace, TRACE_NAMES } from "../../../lib/core/observability/diagnostics";

it.each(TRACE_NAMES)("traces %s while its channel has a subscriber", async (name) => {
  const log: string[] = [];
  const around = (run: () => unknown) => (log.push("around"), run());
  const onStart = (message: unknown) => {
    log.push("start");
    Object.assign(message as object, { around });
  };
  const onEnd = () => void log.push("end");
  const { start, asyncEnd } = tracingChannel(`express-push-verification:${name}`);
  start.subscribe(onStart);
  asyncEnd.subscribe(onEnd);
  const run = async () => void log.push("run");
  const describe = jest.fn(() => ({}) as never);
  await trace(name, describe, run);
  start.unsubscribe(onStart);
  asyncEnd.unsubscribe(onEnd);
  await trace(name, describe, run);
  expect(log).toEqual(["start", "around", "run", "end", "run"]);
  expect(describe).toHaveBeenCalledTimes(1);
});
