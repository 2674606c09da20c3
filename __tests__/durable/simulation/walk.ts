/**
 * A walk: random calls of a storage, in which uuids and outcomes expire, dead letters are discarded, and
 * uuids of events that were not confirmed are forgotten. The schedules have none of these, because
 * each of their events must be handled once.
 */
import type { ClaimedEvent, FailedRun } from "../../../lib/durable/storage";
import { createRandom } from "../../support/attacker-texts";
import { createComparison, type RealStorage } from "./comparison";
import { createModel, type ModelStorage, type Ttls } from "./model-storage";

const STEPS = 80;
const START_MS = 1_000_000_000;
const UUIDS = ["a", "b", "c"];

/** Two different ones, which end in a walk. */
export const TTLS: Ttls = { dedupeTtlMs: 12_000, outcomeTtlMs: 30_000 };

const toMember = (id: number) => ({ id, isWorker: true });
const hex = (text: string, digits: number) =>
  Buffer.from(text).toString("hex").padEnd(digits, "0").slice(0, digits);

/** Walks over a model and a real storage; throws at the first difference. */
export async function walk(seed: number, real: RealStorage): Promise<void> {
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <Item>(items: readonly Item[]) => items[below(items.length)]!;
  // No two walks have one: a storage remembers what its members have read.
  const owners = [2 * seed, 2 * seed + 1];
  let nowMs = START_MS;
  let count = 0;
  const listener = { onSettled() {}, onFailed() {} };
  const model = createModel(() => nowMs, listener, TTLS);
  const compare = createComparison(real);
  const held = new Map<number, ClaimedEvent[]>(owners.map((owner) => [owner, []]));

  async function call(method: keyof ModelStorage, ...args: unknown[]): Promise<unknown> {
    const run = model.storage[method] as (...values: unknown[]) => unknown;
    const reply = run(...args);
    const difference = await compare(method, args, reply, model, nowMs);
    if (difference !== undefined) throw new Error(`walk ${seed}: ${difference}`);
    return reply;
  }

  function outcome() {
    return { key: hex(pick(UUIDS), 32), value: `[${count++}]` };
  }

  function newEvent() {
    const uuidHash = hex(pick(UUIDS), 32);
    const key = uuidHash.slice(0, 16) + hex(pick(["x", "y"]), 16);
    const content = hex(`${seed} ${count}`, 32);
    const hasOutcome = random() < 0.5;
    return {
      key,
      content,
      uuidHash,
      body: `{"n":${count++}}`,
      outcome: hasOutcome ? outcome() : undefined,
    };
  }

  const listDead = () =>
    [...model.events.values()].flatMap(({ id, failedAtMs }) =>
      failedAtMs === undefined ? [] : [String(id)],
    );

  async function claim(owner: number): Promise<void> {
    const own = held.get(owner)!;
    const ids = own.map(({ id }) => id);
    own.push(...((await call("claim", owner, ids, 1 + below(2))) as ClaimedEvent[]));
  }

  async function settle(owner: number): Promise<void> {
    const run = held.get(owner)!.shift();
    if (run === undefined) return;
    const { id, started, failures } = run;
    if (random() < 0.4) return void (await call("finish", [{ id, started }]));
    const failed: FailedRun = {
      id,
      started,
      failures: failures + 1,
      errors: "[]",
      failure: '"down"',
      person: undefined,
      pauseMs: random() < 0.4 ? below(5_000) : undefined,
      isForged: random() < 0.3,
    };
    await call("fail", [failed]);
  }

  async function beat(): Promise<void> {
    const alive = random() < 0.8 ? owners : owners.slice(1);
    await call("beat", alive.map(toMember));
  }

  async function leave(): Promise<void> {
    const owner = pick(owners);
    await call("leave", toMember(owner));
    held.set(owner, []);
  }

  await beat();
  for (let step = 0; step < STEPS; step++) {
    nowMs += random() < 0.2 ? below(15_000) : below(1_000);
    // The clock is set back, also by as little as a beat may be late.
    if (random() < 0.05) nowMs -= below(pick([2_000, 60_000]));
    const draw = random();
    if (draw < 0.3) await call("store", [newEvent()]);
    else if (draw < 0.36) await call("record", [outcome()]);
    else if (draw < 0.42)
      await call(
        "outcomes",
        UUIDS.map((uuid) => hex(uuid, 32)),
      );
    else if (draw < 0.58) await claim(pick(owners));
    else if (draw < 0.74) await settle(pick(owners));
    else if (draw < 0.8) await call("retry", listDead().slice(0, 1));
    else if (draw < 0.84) await call("discard", listDead().slice(0, 1));
    else if (draw < 0.88) await call("purge");
    else if (draw < 0.9) await leave();
    else await beat();
  }
}
