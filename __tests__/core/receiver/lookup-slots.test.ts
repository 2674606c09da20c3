import { LookupSlots } from "../../../lib/core/receiver/lookup-slots";

const overloaded = expect.objectContaining({ code: "OVERLOADED" }) as unknown;

it("rejects the oldest of the account with the most over the limit, and counts it no more", async () => {
  const slots = new LookupSlots(1, 2);
  await slots.take("a");
  for (let round = 0; round < 3; round++) {
    const oldest = slots.take("a");
    const others = [slots.take("a"), slots.take("b")];
    await expect(oldest).rejects.toEqual(overloaded);
    slots.release("a");
    slots.release("b");
    await Promise.all(others);
  }
});
