import type { Availability } from "./availability";
import { BEAT_MS, type Member, type Storage } from "./storage";

const PURGE_MS = 5_000;

/**
 * Shows that this process and its workers are alive, and takes the events of those that are not. Beats
 * come from the app's thread: a process that is blocked must lose its events to others.
 *
 * @param onBeat called after each beat: events that another process stored, or lost, may be due.
 */
export function startHeartbeat(storage: Storage, availability: Availability, onBeat: () => void) {
  const members = new Set<Member>([{ id: createMemberId(), isWorker: false }]);

  async function attempt(run: () => Promise<unknown>): Promise<void> {
    try {
      availability.assertOpen();
      await run();
    } catch {
      // Reported already, or by the operations of the app. The next one makes up for this one.
    }
  }

  const beat = () =>
    attempt(() => availability.watchWrite(storage.beat([...members])).then(onBeat));
  const purge = () => attempt(() => storage.purge());
  const beats = setInterval(() => void beat(), BEAT_MS).unref();
  const purges = setInterval(() => void purge(), PURGE_MS).unref();
  return {
    add(member: Member): void {
      members.add(member);
      void beat();
    },
    /** Forgets a member that holds no event. */
    async remove(member: Member): Promise<void> {
      members.delete(member);
      // Otherwise its row expires.
      await storage.leave(member).catch(() => {});
    },
    /** Sends a beat now. */
    beat,
    stop(): void {
      clearInterval(beats);
      clearInterval(purges);
    },
  };
}

/** Creates the identifier of a member: a random integer below 2^48. */
export function createMemberId(): number {
  const [low = 0, high = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 16) * 2 ** 32 + low;
}
