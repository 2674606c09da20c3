import { nextTurn } from "../../support/waiting";
import { LookupSlots } from "../../../lib/core/receiver/lookup-slots";

const overloaded = expect.objectContaining({ code: "OVERLOADED" }) as unknown;

it("replaces the oldest of the account with the most over the limit", async () => {
  const slots = new LookupSlots();
  for (let taken = 0; taken < 50; taken++) await slots.take("a");
  for (let round = 0; round < 3; round++) {
    const oldest = slots.take("a");
    const others = ["b", ...Array<string>(999).fill("a")].map((account) => slots.take(account));
    await expect(oldest).rejects.toEqual(overloaded);
    slots.release("b");
    for (let waiting = 0; waiting < 999; waiting++) slots.release("a");
    await Promise.all(others);
  }
});

it("gives a slot to the account of the newest lookup", async () => {
  const [slots, started] = [new LookupSlots(), [] as string[]];
  for (let taken = 0; taken < 50; taken++) await slots.take("x");
  for (const account of ["a", "b", "a"]) {
    void slots.take(account).then(() => started.push(account));
  }
  slots.release("x");
  await nextTurn();
  expect(started).toEqual(["a"]);
});

it("gives no slot to a lookup that has waited for 8 s", async () => {
  const now = jest.spyOn(performance, "now").mockReturnValue(0);
  const [slots, late] = [new LookupSlots(), jest.fn()];
  for (let taken = 0; taken < 50; taken++) await slots.take("a");
  void slots.take("b").then(late);
  now.mockReturnValue(8_000);
  slots.release("a");
  await slots.take("c");
  expect(late).not.toHaveBeenCalled();
  now.mockRestore();
});
