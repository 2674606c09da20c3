import { createRandom, UNLUCKY_NAMES } from "../support/attacker-texts";
import { ATTACKED, countAttacked, countRandom } from "../support/cuts";

// `npm run fuzz` takes all of them, and random cuts for minutes.
describe("all cuts of a text", () => {
  it.each(ATTACKED)("have no accepted other event: %s %s %j", (...row) => {
    const { foreign, accepted } = countAttacked(row, 5);
    expect(foreign).toBeGreaterThan(0);
    expect(accepted).toBe(0);
  });
});

describe("random cuts of a text", () => {
  it.each([
    ["no declared names", []],
    ["declared names that contain others", UNLUCKY_NAMES],
  ])("has no accepted other event in 8,000 with %s", (_what, declared) => {
    const random = createRandom(12);
    const count = { foreign: 0, accepted: 0 };
    for (let run = 0; run < 200; run++) {
      const { foreign, accepted } = countRandom(random, 40, declared);
      count.foreign += foreign;
      count.accepted += accepted;
    }
    expect(count.foreign).toBeGreaterThan(200);
    expect(count.accepted).toBe(0);
  });
});
