import { readEventNames } from "../../lib/durable/stored-event";

const NOTHING = { account: "", accountSid: "", uuid: "", type: "", receiver: undefined };

it.each([undefined, null, 5, "text", [], { params: "text" }, { params: [5, null], account: 5 }])(
  "reads empty texts from values that another version may have stored: %j",
  (stored) => expect(readEventNames(stored)).toEqual(NOTHING),
);
