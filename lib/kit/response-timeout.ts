import { isPending } from "./pending";

/** The error of {@link within}. */
export class ResponseTimeout extends Error {
  constructor(problem: string, limitMs: number) {
    super(`${problem} within ${Math.round(limitMs)} ms.`);
  }
}

/** Awaits a promise for up to `limitMs` milliseconds, then throws what the problem is; returns any other value. */
export async function within<Value>(
  value: Value | Promise<Value>,
  limitMs: number,
  problem = "There was no response",
): Promise<Value> {
  if (!isPending(value)) return value;
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ResponseTimeout(problem, limitMs)), Math.max(limitMs, 0));
  });
  try {
    return await Promise.race([value, expiry]);
  } finally {
    clearTimeout(timer);
  }
}
