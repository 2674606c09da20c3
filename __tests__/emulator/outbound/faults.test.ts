import type { Fault } from "../../../lib/emulator/outbound/fault";
import { createFaults } from "../../../lib/emulator/outbound/faults";

describe("faults", () => {
  it("happen `times` times, one of each kind to a request", () => {
    const faults = createFaults();
    faults.inject({ kind: "duplicate", times: 2 });
    faults.inject({ kind: "delay", delay_ms: 5 });
    faults.inject({ kind: "duplicate", copies: 3 });
    const taken = [1, 2, 3, 4].map(() => faults.take("factor.created"));
    expect(taken.map((plan) => Object.keys(plan))).toEqual([
      ["duplicate", "delay"],
      ["duplicate"],
      ["duplicate"],
      [],
    ]);
    expect(taken.map((plan) => plan.duplicate?.copies)).toEqual([1, 1, 3, undefined]);
  });

  it("happen to their event_type only", () => {
    const faults = createFaults();
    faults.inject({ kind: "drop-connection", event_type: "challenge.denied" });
    expect(faults.take("challenge.approved")).toEqual({});
    expect(faults.take("challenge.denied")).toHaveProperty("drop-connection");
  });

  it("are removed by clear", () => {
    const faults = createFaults();
    faults.inject({ kind: "wrong-signature", times: 9 });
    faults.clear();
    expect(faults.take("factor.created")).toEqual({});
  });

  it.each([
    [{ kind: "explode" }],
    [{}],
    [{ kind: "delay", delay_ms: -1 }],
    [{ kind: "duplicate", times: 0 }],
    [{ kind: "duplicate", copys: 2 }],
    ["duplicate"],
    [null],
  ])("are rejected: %j", (fault) => {
    expect(() => createFaults().inject(fault as Fault)).toThrow(
      expect.objectContaining({ name: "EmulatorError", code: "PARAMETER_INVALID", status: 400 }),
    );
  });

  it("accepts each type of event", () => {
    const inject = () =>
      createFaults().inject({ kind: "delay", event_type: "challenge.aproved" as never });
    expect(inject).toThrow(expect.objectContaining({ serviceCode: 60200 }));
  });
});
