import { countForgeries, findRejected, findUnconfirmed, SETTINGS } from "../support/forgery-run";

// `npm run fuzz` sends a million.
describe("texts that the token signed for other products", () => {
  it.each(SETTINGS)("are no events with %s", async (_what, options) => {
    const { accepted, events } = await countForgeries(250, 21, options);
    expect(accepted).toEqual([]);
    // Some texts are complete events, signed with the right token.
    expect(events).toBeGreaterThan(10);
  });
});

describe("genuine requests", () => {
  it("are accepted, each as its event", async () => {
    expect(await findRejected(300, 22)).toEqual([]);
  });

  it("of challenges are accepted with confirmWith, with hostile texts and additions", async () => {
    expect(await findUnconfirmed(150, 23)).toEqual([]);
  });
});
