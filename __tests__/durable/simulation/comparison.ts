/** Compares a real storage, whose clock is that of a walk, with the model. */
import { isDeepStrictEqual } from "node:util";
import type { ClaimedEvent, Run } from "../../../lib/durable/storage";
import type {
  createModel,
  ModelDelivery,
  ModelEvent,
  ModelMember,
  ModelOutcome,
  ModelStorage,
} from "./model-storage";

type Method = keyof ModelStorage;

/** A uuid as a storage has it: SQLite has no booleans. */
type StoredDelivery = Omit<ModelDelivery, "eventId" | "isDiscarded"> & {
  key: string;
  isDiscarded: boolean | number;
};

export interface StorageRows {
  events: ModelEvent[];
  members: (ModelMember & { id: number })[];
  deliveries: StoredDelivery[];
  outcomes: (ModelOutcome & { key: string })[];
}

export interface RealStorage {
  call(method: Method, args: readonly unknown[], nowMs: number): Promise<unknown>;
  readRows(): Promise<StorageRows>;
}

const toDelivery = ({ key, content, isDiscarded, expiresAtMs }: StoredDelivery) => {
  return { key, content, isDiscarded: Number(isDiscarded), expiresAtMs };
};
const byId = (one: { id: number }, other: { id: number }) => one.id - other.id;
const byKey = (one: { key: string }, other: { key: string }) => (one.key < other.key ? -1 : 1);

/** Copies a value without undefined and null; that of another realm would never be equal. */
const toPlain = <Value>(value: Value) =>
  JSON.parse(JSON.stringify(value ?? null), (_, part) => part ?? undefined) as Value;

export function createComparison({ call, readRows }: RealStorage) {
  /** The identifiers of the model by those of the real storage, which may leave out numbers. */
  const ids = new Map<number, number>();
  const toModel = (id: number) => ids.get(id) ?? -1;
  const toReal = (wanted: number) => [...ids].find(([, id]) => id === wanted)?.[0] ?? -1;

  function translateArgs(method: Method, args: readonly unknown[]): readonly unknown[] {
    const [first, held, count] = args;
    if (method === "claim") return [first, (held as number[]).map(toReal), count];
    if (method === "retry" || method === "discard")
      return [(first as string[]).map((id) => String(toReal(Number(id))))];
    if (method !== "finish" && method !== "fail") return args;
    return [(first as Run[]).map((run) => Object.assign(run, { id: toReal(run.id) }))];
  }

  function translateReply(method: Method, reply: unknown): unknown {
    if (method === "claim") {
      // Postgres tells when the event was due, too.
      return (reply as ClaimedEvent[]).map((event) =>
        Object.assign(event, { id: toModel(event.id), runAtMs: undefined }),
      );
    }
    return method === "fail" ? (reply as number[]).map(toModel) : reply;
  }

  /** The order of some lists is free. */
  function sortReply(method: Method, reply: unknown): unknown {
    if (method === "fail") return (reply as number[]).toSorted((a, b) => a - b);
    return method === "outcomes" ? (reply as { key: string }[]).toSorted(byKey) : reply;
  }

  /** Makes the same call of the real storage; returns how it differs from the model afterwards. */
  return async (
    method: Method,
    args: readonly unknown[],
    reply: unknown,
    model: ReturnType<typeof createModel>,
    nowMs: number,
  ): Promise<string | undefined> => {
    const given = toPlain(args);
    const realReply = await call(method, translateArgs(method, given), nowMs);
    const { events, members, deliveries, outcomes } = await readRows();
    for (const { id, body } of model.events.values()) {
      const own = events.find((event) => event.body === body);
      if (own !== undefined) ids.set(own.id, id);
    }
    const rows = <Row>(map: ReadonlyMap<string, Row>) =>
      Array.from(map, ([key, row]) => ({ key, ...row })).toSorted(byKey);
    const expected = {
      reply: sortReply(method, reply),
      events: [...model.events.values()].toSorted(byId),
      members: Array.from(model.members, ([id, member]) => ({ id, ...member })).toSorted(byId),
      deliveries: rows(model.deliveries).map(toDelivery),
      outcomes: rows(model.outcomes),
    };
    const found = {
      // Where the model replies nothing, no caller reads the reply.
      reply: reply === undefined ? undefined : sortReply(method, translateReply(method, realReply)),
      events: events.map((event) => Object.assign(event, { id: toModel(event.id) })).toSorted(byId),
      members: members.toSorted(byId),
      deliveries: deliveries.toSorted(byKey).map(toDelivery),
      outcomes: outcomes.toSorted(byKey),
    };
    if (isDeepStrictEqual(toPlain(found), toPlain(expected))) return undefined;
    const texts = [given, found, expected].map((value) => JSON.stringify(value));
    return `${method}(${texts[0]}) at ${nowMs} is ${texts[1]}; the model: ${texts[2]}`;
  };
}
