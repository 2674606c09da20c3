import { countForgeries, findRefused, SETTINGS } from "../support/forgery-run";

describe("texts that the token signed for other products", () => {
  it.each(SETTINGS)(
    "are no events with %s",
    async (_what, options) => {
      const { accepted, events } = await countForgeries(800, 21, options);
      expect(accepted).toEqual([]);
      // Signed with the right token, and a complete event.
      expect(events).toBeGreaterThan(40);
    },
    120_000,
  );
});

describe("genuine requests", () => {
  it("are accepted, each as its event", async () => {
    expect(await findRefused(1_000, 22)).toEqual([]);
  }, 60_000);
});
