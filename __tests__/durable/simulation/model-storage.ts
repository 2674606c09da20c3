/** A storage in memory with the semantics of the engines, whose clock is the caller's. */
import {
  LEASE_MS,
  MAX_CLOCK_SKEW_MS,
  MAX_STALLS,
  STALLED,
  type ClaimedEvent,
  type FailedRun,
  type Member,
  type NewEvent,
  type Run,
  type Storage,
  type StoredOutcome,
} from "../../../lib/durable/storage";

/** A row of the model. */
export interface ModelEvent {
  id: number;
  uuidHash: string;
  body: string;
  runAtMs: number;
  owner: number | undefined;
  started: number;
  failures: number;
  stalls: number;
  failedAtMs: number | undefined;
  error: string;
}

/** Seeded bugs, which the simulation must find. */
export interface ModelBugs {
  /** A late worker settles what was started again. */
  ignoresStarted?: boolean;
  /** A claim gives what the member holds. */
  ignoresHeld?: boolean;
  /** A claim whose reply was lost is never given again. */
  forgetsLostClaims?: boolean;
}

/** The methods that the simulation and the comparison with engines call. */
export type ModelStorage = Pick<
  Storage,
  | "store"
  | "record"
  | "outcomes"
  | "claim"
  | "finish"
  | "fail"
  | "beat"
  | "leave"
  | "retry"
  | "discard"
  | "purge"
>;

/** Called when a run removes an event, or makes it a dead letter. */
export type OnSettled = (event: ModelEvent, run: Run, isDead: boolean) => void;

/** Creates an empty storage. */
export function createModel(
  nowMs: () => number,
  { ignoresStarted, ignoresHeld, forgetsLostClaims }: ModelBugs = {},
  onSettled: OnSettled = () => {},
) {
  const contents = new Map<string, string>();
  const outcomes = new Map<string, string>();
  const events = new Map<number, ModelEvent>();
  const members = new Map<number, { seenAtMs: number; sinceMs: number }>();
  let lastId = 0;

  const isDue = ({ owner, failedAtMs }: ModelEvent) =>
    owner === undefined && failedAtMs === undefined;
  const find = ({ id, started }: Run) => {
    const event = events.get(id);
    const isSame = ignoresStarted === true || event?.started === started;
    return event?.failedAtMs === undefined && isSame ? event : undefined;
  };
  const add = (uuidHash: string, body: string) => {
    const counts = { started: 0, failures: 0, stalls: 0 };
    const rest = { owner: undefined, failedAtMs: undefined, error: "" };
    events.set(++lastId, { id: lastId, uuidHash, body, runAtMs: nowMs(), ...counts, ...rest });
  };

  function release(owner: number): void {
    for (const event of events.values()) {
      if (event.owner !== owner) continue;
      event.owner = undefined;
      event.runAtMs = Math.min(event.runAtMs, nowMs());
      if (event.stalls++ < MAX_STALLS) continue;
      event.failedAtMs = nowMs();
      event.error = STALLED;
    }
  }

  const storage = {
    store: (added: readonly NewEvent[]) =>
      added.map(({ key, content, uuidHash, body, outcome }) => {
        const kept = contents.get(key);
        if (kept !== undefined) return kept;
        contents.set(key, content);
        add(uuidHash, body);
        if (outcome !== undefined) storage.record([outcome]);
        return content;
      }),
    record(added: readonly StoredOutcome[]): void {
      for (const { key, params } of added) {
        if (!outcomes.has(key)) outcomes.set(key, params);
      }
    },
    outcomes: (keys: readonly string[]): StoredOutcome[] =>
      keys.flatMap((key) => {
        const params = outcomes.get(key);
        return params === undefined ? [] : [{ key, params }];
      }),
    claim(owner: number, held: readonly number[], count: number): ClaimedEvent[] {
      if (!members.has(owner)) return [];
      const isNew = ({ id }: ModelEvent) => ignoresHeld === true || !held.includes(id);
      const all = [...events.values()].filter(isNew);
      const lost = forgetsLostClaims === true ? [] : all.filter((event) => event.owner === owner);
      const due = all
        .filter((event) => isDue(event) && event.runAtMs <= nowMs())
        .toSorted((a, b) => a.runAtMs - b.runAtMs || a.id - b.id)
        .slice(0, Math.max(0, count - lost.length));
      for (const event of due) {
        event.owner = owner;
        event.started++;
      }
      return [...lost, ...due].map(({ id, body, started, failures }) => ({
        id,
        body,
        started,
        failures,
      }));
    },
    finish(runs: readonly Run[]): void {
      for (const run of runs) {
        const event = find(run);
        if (event === undefined) continue;
        onSettled(event, run, false);
        events.delete(event.id);
      }
    },
    fail: (runs: readonly FailedRun[]): number[] =>
      runs.flatMap((run) => {
        const event = find(run);
        if (event === undefined) {
          const former = events.get(run.id);
          const wasDead = former?.started === run.started && former.failedAtMs !== undefined;
          return wasDead && run.pauseMs === undefined ? [run.id] : [];
        }
        const { failures, error, pauseMs } = run;
        Object.assign(event, { owner: undefined, failures, error });
        if (pauseMs === undefined) {
          onSettled(event, run, true);
          event.failedAtMs = nowMs();
          return [event.id];
        }
        event.runAtMs = nowMs() + pauseMs;
        return [];
      }),
    beat(beating: readonly Member[]): void {
      const now = nowMs();
      const isFuture = ({ seenAtMs }: { seenAtMs: number }) => seenAtMs > now + MAX_CLOCK_SKEW_MS;
      if ([...members.values()].some(isFuture)) {
        for (const event of events.values()) {
          if (isDue(event)) event.runAtMs = Math.min(event.runAtMs, now);
        }
        for (const member of members.values()) {
          if (isFuture(member)) member.seenAtMs = now - LEASE_MS - 1;
        }
      }
      for (const { id } of beating) {
        const former = members.get(id);
        const isAlive = former !== undefined && former.seenAtMs >= now - LEASE_MS;
        members.set(id, { seenAtMs: now, sinceMs: isAlive ? former.sinceMs : now });
      }
      if (!beating.some(({ id }) => (members.get(id)?.sinceMs ?? now) <= now - LEASE_MS)) return;
      for (const [id, { seenAtMs }] of members) {
        if (seenAtMs >= now - LEASE_MS) continue;
        release(id);
        members.delete(id);
      }
    },
    leave(leaving: readonly Member[]): void {
      for (const { id } of leaving) {
        members.delete(id);
        for (const event of events.values()) {
          if (event.owner !== id) continue;
          event.owner = undefined;
          event.started--;
        }
      }
    },
    retry: (ids: readonly string[]): number =>
      ids.filter((id) => {
        const event = events.get(Number(id));
        if (event?.failedAtMs === undefined) return false;
        events.delete(event.id);
        add(event.uuidHash, event.body);
        return true;
      }).length,
    discard: (ids: readonly string[]): number =>
      ids.filter(
        (id) => events.get(Number(id))?.failedAtMs !== undefined && events.delete(Number(id)),
      ).length,
    purge(): boolean {
      for (const { owner } of events.values()) {
        if (owner !== undefined && !members.has(owner)) release(owner);
      }
      return false;
    },
  };
  return {
    storage,
    events,
    listDead: () => [...events.values()].filter(({ failedAtMs }) => failedAtMs !== undefined),
  };
}
