/** Makes an entry the newest of a map, and removes the oldest ones over the limit. */
export function keepNewest<Kept>(kept: Map<string, Kept>, key: string, one: Kept, max: number) {
  kept.delete(key);
  kept.set(key, one);
  for (const oldest of kept.keys()) {
    if (kept.size <= max) return;
    kept.delete(oldest);
  }
}
