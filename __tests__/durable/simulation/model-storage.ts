/** A storage in memory with the semantics of the engines, whose clock is the caller's. */
import { addFailure } from "../../../lib/durable/stored-event";
import { STALLED } from "../../../lib/durable/lease";
import type {
  ClaimedEvent,
  FailedRun,
  Member,
  NewEvent,
  Run,
  StoredOutcome,
} from "../../../lib/durable/storage";

/** Numbers of its own: an engine that has others differs from the model. */
const LEASE_MS = 4_000;
const MAX_CLOCK_SKEW_MS = 1_000;
const MAX_STALLS = 20;

/** A row of the model. */
export interface ModelEvent {
  id: number;
  body: string;
  runAtMs: number;
  /** The part of `runAtMs` that is a pause. */
  pauseMs: number;
  owner: number | undefined;
  started: number;
  failures: number;
  stalls: number;
  failedAtMs: number | undefined;
  errors: string | undefined;
}

/** A uuid that is kept, also after it expired until a purge. */
export interface ModelDelivery {
  content: string;
  eventId: number;
  isDiscarded: boolean;
  expiresAtMs: number;
}

/** An outcome that is kept likewise. */
export interface ModelOutcome {
  value: string;
  expiresAtMs: number;
}

/** A member that beats. */
export interface ModelMember {
  seenAtMs: number;
  sinceMs: number;
}

export interface ModelListener {
  /** A run removes an event, or makes it a dead letter. */
  onSettled(event: ModelEvent, run: Run, isDead: boolean): void;
  /** A failed run makes an event due later. */
  onFailed(event: ModelEvent, run: FailedRun): void;
}

/** How long a storage keeps uuids and outcomes. */
export interface Ttls {
  dedupeTtlMs: number;
  outcomeTtlMs: number;
}

/** Longer than any schedule: its events come once. */
export const LASTING: Ttls = { dedupeTtlMs: 2 ** 40, outcomeTtlMs: 3 ** 26 };

export function createModel(nowMs: () => number, listener: ModelListener, ttls = LASTING) {
  const deliveries = new Map<string, ModelDelivery>();
  const outcomes = new Map<string, ModelOutcome>();
  const events = new Map<number, ModelEvent>();
  const members = new Map<number, ModelMember>();
  let lastId = 0;

  const isDue = ({ owner, failedAtMs }: ModelEvent) =>
    owner === undefined && failedAtMs === undefined;

  function find({ id, started }: Run): ModelEvent | undefined {
    const event = events.get(id);
    return event?.started === started && event.failedAtMs === undefined ? event : undefined;
  }

  function findLive<Kept extends { expiresAtMs: number }>(kept: Map<string, Kept>, key: string) {
    const found = kept.get(key);
    return found !== undefined && found.expiresAtMs > nowMs() ? found : undefined;
  }

  function forget(id: number): void {
    for (const [key, { eventId }] of deliveries) if (eventId === id) deliveries.delete(key);
  }

  function release(event: ModelEvent): void {
    event.owner = undefined;
    event.runAtMs = Math.min(event.runAtMs, nowMs());
    event.stalls++;
  }

  function releaseAll(owner: number): void {
    for (const event of events.values()) {
      if (event.owner !== owner) continue;
      release(event);
      if (event.stalls <= MAX_STALLS) continue;
      event.failedAtMs = nowMs();
      event.errors = addFailure(event.errors ?? null, { reason: STALLED });
    }
  }

  /** Whether the clock was set back, by the latest times that were written. */
  function isClockSetBack(limitMs: number): boolean {
    const all = [...events.values()];
    const due = all.filter(isDue).toSorted((one, other) => one.runAtMs - other.runAtMs);
    const last = due.at(-1);
    return (
      (last !== undefined && last.runAtMs - last.pauseMs > limitMs) ||
      all.some(({ failedAtMs = 0 }) => failedAtMs > limitMs) ||
      [...members.values()].some(({ seenAtMs }) => seenAtMs > limitMs)
    );
  }

  function endFuture(now: number): void {
    for (const event of events.values()) {
      if (isDue(event)) event.runAtMs = Math.min(event.runAtMs, now);
      if (event.failedAtMs !== undefined) event.failedAtMs = Math.min(event.failedAtMs, now);
    }
    for (const member of members.values()) {
      if (member.seenAtMs > now + MAX_CLOCK_SKEW_MS) member.seenAtMs = now - LEASE_MS - 1;
    }
  }

  const storage = {
    store: (added: readonly NewEvent[]): string[] =>
      added.map(({ key, content, body, outcome }) => {
        const kept = findLive(deliveries, key);
        if (kept !== undefined) return kept.content;
        const expiresAtMs = nowMs() + ttls.dedupeTtlMs;
        deliveries.set(key, { content, eventId: lastId + 1, isDiscarded: false, expiresAtMs });
        const counts = { pauseMs: 0, started: 0, failures: 0, stalls: 0 };
        const rest = { owner: undefined, failedAtMs: undefined, errors: undefined };
        events.set(++lastId, { id: lastId, body, runAtMs: nowMs(), ...counts, ...rest });
        if (outcome !== undefined) storage.record([outcome]);
        return content;
      }),
    record(added: readonly StoredOutcome[]): void {
      for (const { key, value } of added) {
        if (findLive(outcomes, key) !== undefined) continue;
        outcomes.set(key, { value, expiresAtMs: nowMs() + ttls.outcomeTtlMs });
      }
    },
    outcomes: (keys: readonly string[]): StoredOutcome[] =>
      keys.flatMap((key) => {
        const found = findLive(outcomes, key);
        return found === undefined ? [] : [{ key, value: found.value }];
      }),
    claim(owner: number, held: readonly number[], count: number): ClaimedEvent[] {
      if (!members.has(owner)) return [];
      const free = [...events.values()].filter(({ id }) => !held.includes(id));
      const claimed = free.filter((event) => event.owner === owner);
      const due = free.filter((event) => isDue(event) && event.runAtMs <= nowMs());
      due.sort((a, b) => a.runAtMs - b.runAtMs || a.id - b.id);
      for (const event of due.slice(0, Math.max(0, count - claimed.length))) {
        event.owner = owner;
        event.started++;
        claimed.push(event);
      }
      return claimed.map(({ id, body, started, failures, stalls, errors }) => {
        const attempt = failures + stalls + 1;
        return { id, body, started, attempt, failures, errors: errors ?? null };
      });
    },
    finish(runs: readonly Run[]): void {
      for (const run of runs) {
        const event = find(run);
        if (event === undefined) continue;
        listener.onSettled(event, run, false);
        events.delete(event.id);
      }
    },
    fail: (runs: readonly FailedRun[]): number[] =>
      runs.flatMap((run) => {
        if (run.isForged) forget(run.id);
        const event = find(run);
        if (event === undefined) {
          const former = events.get(run.id);
          const wasDead = former?.started === run.started && former.failedAtMs !== undefined;
          return wasDead && run.pauseMs === undefined ? [run.id] : [];
        }
        if (run.pauseMs === undefined) listener.onSettled(event, run, true);
        else listener.onFailed(event, run);
        event.owner = undefined;
        event.failures = run.failures;
        event.errors = run.errors;
        event.pauseMs = run.pauseMs ?? event.pauseMs;
        if (run.pauseMs === undefined) event.failedAtMs = nowMs();
        else event.runAtMs = nowMs() + run.pauseMs;
        return run.pauseMs === undefined ? [event.id] : [];
      }),
    beat(beating: readonly Member[]): void {
      const now = nowMs();
      const dead: number[] = [];
      for (const [id, { seenAtMs }] of members) {
        if (seenAtMs < now - LEASE_MS && !beating.some((one) => one.id === id)) dead.push(id);
      }
      if (isClockSetBack(now + MAX_CLOCK_SKEW_MS)) endFuture(now);
      let isOld = false;
      for (const { id } of beating) {
        const former = members.get(id);
        const isAlive = former !== undefined && former.seenAtMs >= now - LEASE_MS;
        const sinceMs = isAlive ? former.sinceMs : now;
        members.set(id, { seenAtMs: now, sinceMs });
        isOld ||= sinceMs <= now - LEASE_MS;
      }
      if (!isOld) return;
      for (const id of dead) {
        releaseAll(id);
        members.delete(id);
      }
    },
    leave({ id }: Member): void {
      members.delete(id);
      for (const event of events.values()) if (event.owner === id) event.owner = undefined;
    },
    retry: (ids: readonly string[]): number =>
      ids.filter((id) => {
        const event = events.get(Number(id));
        if (event?.failedAtMs === undefined) return false;
        event.failedAtMs = undefined;
        event.failures = 0;
        event.stalls = 0;
        event.pauseMs = 0;
        event.runAtMs = nowMs();
        // Count a run more, so that a late report on an earlier run changes nothing.
        event.started++;
        return true;
      }).length,
    discard: (ids: readonly string[]): number =>
      ids.filter((id) => {
        const event = events.get(Number(id));
        if (event?.failedAtMs === undefined) return false;
        for (const one of deliveries.values()) one.isDiscarded ||= one.eventId === event.id;
        return events.delete(event.id);
      }).length,
    purge(): boolean {
      for (const kept of [deliveries, outcomes]) {
        for (const [key, { expiresAtMs }] of kept) if (expiresAtMs <= nowMs()) kept.delete(key);
      }
      for (const event of events.values()) {
        if (event.owner !== undefined && !members.has(event.owner)) release(event);
      }
      return false;
    },
  };
  return { storage, events, members, deliveries, outcomes };
}

export type ModelStorage = ReturnType<typeof createModel>["storage"];
