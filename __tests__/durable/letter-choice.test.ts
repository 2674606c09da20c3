import { chooseLetters, createAmbiguityError } from "../../lib/durable/letter-choice";

/** A letter of an authenticated account, which claims another account or its own. */
const letterOf = (account: string, accountSid: string, receiver?: string) => ({
  account,
  receiver,
  params: [["account_sid", accountSid]],
});
const first = letterOf("AC1", "AC1", "login");
const second = letterOf("AC2", "AC2", "login");
const claiming = letterOf("AC2", "AC1", "other");
const choose = (letters: object[], options = {}) =>
  chooseLetters(letters, (letter) => letter, options);

describe("chooseLetters", () => {
  it("chooses every letter of one account", () => {
    expect(choose([first, first])).toEqual([first, first]);
    expect(choose([])).toEqual([]);
  });

  it("chooses none when they are of several accounts", () => {
    expect(choose([first, second])).toBeUndefined();
  });

  it("chooses by accountSid", () => {
    expect(choose([first, second], { accountSid: "AC2" })).toEqual([second]);
    expect(choose([first], { accountSid: "AC9" })).toEqual([]);
  });

  it("compares the authenticated accounts, and not what the events claim", () => {
    expect(choose([first, claiming], { accountSid: "AC1" })).toBeUndefined();
    expect(choose([first, claiming], { accountSid: "AC1", receiver: "login" })).toEqual([first]);
  });
});

it("createAmbiguityError names the call that tells the letters apart", () => {
  expect(createAmbiguityError("retry")).toBeInstanceOf(TypeError);
  expect(createAmbiguityError("discard").message).toContain(
    "discard(uuid, { accountSid, receiver })",
  );
});
