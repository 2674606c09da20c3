import { createFaults, type Fault } from "../../lib/emulator/faults";

describe("faults", () => {
  it("happen as often as they shall, one of each kind to a call", () => {
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

  it("happen to the type that they are for", () => {
    const faults = createFaults();
    faults.inject({ kind: "drop-connection", event_type: "challenge.denied" });
    expect(faults.take("challenge.approved")).toEqual({});
    expect(faults.take("challenge.denied")).toHaveProperty("drop-connection");
  });

  it("are forgotten by clear", () => {
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
  ])("are refused: %j", (fault) => {
    expect(() => createFaults().inject(fault as Fault)).toThrow(
      expect.objectContaining({ name: "EmulatorError", code: "PARAMETER_INVALID", status: 400 }),
    );
  });

  it("knows the types that there are", () => {
    const inject = () =>
      createFaults().inject({ kind: "delay", event_type: "challenge.aproved" as never });
    expect(inject).toThrow(expect.objectContaining({ serviceCode: 60200 }));
  });
});
