import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { DIAGNOSTIC_NAMES, publish } from "../../lib/observability/diagnostics";

describe("publish", () => {
  it.each(DIAGNOSTIC_NAMES)("publishes %s to its subscribers", (name) => {
    const told: unknown[] = [];
    const listener = (message: unknown) => void told.push(message);
    publish(name, { type: "before" });
    subscribe(`express-push-verification:${name}`, listener);
    publish(name, { type: "meanwhile" });
    unsubscribe(`express-push-verification:${name}`, listener);
    publish(name, { type: "after" });
    expect(told).toEqual([{ type: "meanwhile" }]);
  });
});
