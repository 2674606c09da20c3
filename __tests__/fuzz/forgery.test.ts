import { countForgeries, findRejected, SETTINGS } from "../support/attacks";

// `npm run fuzz` sends a million.
describe("texts that the token signed for other products", () => {
  it.each(SETTINGS)("are no events with %s", async (_what, options) => {
    const { accepted, events } = await countForgeries(500, 21, options);
    expect(accepted).toEqual([]);
    // Some texts are complete events, signed with the right token.
    expect(events).toBeGreaterThan(10);
  });
});

it.each([
  ["without hostile texts", "plain"],
  ["with hostile texts and additions, if confirm knows their events,", "unclear"],
] as const)("genuine requests %s are accepted, each as its event", async (_what, kind) => {
  expect(await findRejected(600, 22, kind)).toEqual([]);
});
