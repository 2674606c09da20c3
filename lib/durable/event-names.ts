import type { Pair } from "../form/form";

/** The names of a stored event, also when this version cannot read the event. */
export interface EventNames {
  /** The authenticated account. */
  account: string;
  /** The account that the event claims. */
  accountSid: string;
  uuid: string;
  type: string;
  receiver: string | undefined;
}

/** Reads what names an event from its stored form; empty texts for what is not there. */
export function readEventNames(stored: unknown): EventNames {
  const { account, receiver, params } = Object(stored) as Record<string, unknown>;
  const pairs: unknown[] = Array.isArray(params) ? params : [];
  const byName = new Map(pairs.filter((pair) => Array.isArray(pair)) as unknown as Pair[]);
  return {
    account: typeof account === "string" ? account : "",
    accountSid: byName.get("account_sid") ?? "",
    uuid: byName.get("uuid") ?? "",
    type: byName.get("type") ?? "",
    receiver: typeof receiver === "string" ? receiver : undefined,
  };
}
