import { UNLUCKY_NAMES } from "../support/attacker-texts";
import { ATTACKED, countAttacked, countRandom } from "../support/attacks";

// `npm run fuzz` takes all of them, and random cuts for minutes.
it.each(ATTACKED)("no cut of a text is accepted as another event: %s %s %j", (...row) => {
  const { foreign, accepted } = countAttacked(row, 5);
  expect(foreign).toBeGreaterThan(0);
  expect(accepted).toEqual([]);
});

it.each([
  ["no declared names", []],
  ["declared names that contain others", UNLUCKY_NAMES],
])("no random cut is accepted as another event, with %s", (_what, declared) => {
  const { foreign, accepted } = countRandom(1_000, 12, declared);
  expect(foreign).toBeGreaterThan(200);
  expect(accepted).toEqual([]);
});
