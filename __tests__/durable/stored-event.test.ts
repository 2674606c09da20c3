import { readEventNames } from "../../lib/durable/stored-event";

const params = [
  ["uuid", "u-1"],
  ["type", "factor.created"],
  ["account_sid", "AC1"],
];
const NOTHING = { account: "", accountSid: "", uuid: "", type: "", receiver: undefined };

it("reads the names of a stored event", () => {
  expect(readEventNames({ account: "AC2", receiver: "login", params })).toEqual({
    account: "AC2",
    accountSid: "AC1",
    uuid: "u-1",
    type: "factor.created",
    receiver: "login",
  });
});

it.each([undefined, null, 5, "text", [], { params: "text" }, { params: [5, null], account: 5 }])(
  "reads empty texts from values that another version may have stored: %j",
  (stored) => expect(readEventNames(stored)).toEqual(NOTHING),
);
