import type { EngineSuite } from "../support/engine";
import { describeClosing } from "./closing";
import { describeConfirmation } from "./confirmation";
import { describeContract } from "./contract";
import { describeForeignRows } from "./foreign-rows";
import { describeFormats } from "./formats";
import { describeJournal } from "./journal";
import { describeReceiverOutages } from "./receiver-outages";
import { describeTimes } from "./times";
import { describeUserData } from "./user-data";

export const SUITES: readonly (readonly [title: string, suite: EngineSuite])[] = [
  ["contract", describeContract],
  ["closing", describeClosing],
  ["events that need a confirmation", describeConfirmation],
  ["a receiver during an outage", describeReceiverOutages],
  ["times", describeTimes],
  ["the journal", describeJournal],
  ["the data of a user", describeUserData],
  ["stores of other versions", describeFormats],
];

export const SQL_SUITES: typeof SUITES = [
  ...SUITES,
  ["rows that another program changed", describeForeignRows],
];
