/** A dedupe store in Redis: pass it as the option `dedupe` of `pushWebhooks`. */
import type { DedupeStore } from "express-push-verification";
import type { Redis } from "ioredis";

const KEPT_MS = 86_400_000;
// Each script is atomic. The value of a claim is "running owner hash", that of a handled uuid "done hash".
const OWN = `
  local known = redis.call("GET", KEYS[1])
  local own = "running " .. ARGV[1] .. " "
  local is_own = known and string.sub(known, 1, #own) == own`;
const CLAIM = `${OWN}
  if known and not is_own then return known end
  redis.call("SET", KEYS[1], own .. ARGV[2], "PX", ARGV[3])
  return false`;
const COMPLETE = `${OWN}
  if is_own then
    redis.call("SET", KEYS[1], "done " .. string.sub(known, #own + 1), "PX", ARGV[2])
  end`;
const RELEASE = `${OWN}
  if is_own then redis.call("DEL", KEYS[1]) end`;

const keyOf = (accountSid: string, uuid: string) => `push-dedupe:${accountSid}:${uuid}`;

export function createRedisDedupe(redis: Redis): DedupeStore {
  return {
    async claim({ accountSid, uuid, contentHash, owner, leaseMs }) {
      const known = (await redis.eval(
        CLAIM,
        1,
        keyOf(accountSid, uuid),
        owner,
        contentHash,
        leaseMs,
      )) as string | null;
      if (known === null) return "new";
      if (known.startsWith("running ")) return "running";
      return known === `done ${contentHash}` ? "done" : "conflict";
    },
    async complete({ accountSid, uuid, owner }) {
      await redis.eval(COMPLETE, 1, keyOf(accountSid, uuid), owner, KEPT_MS);
    },
    async release({ accountSid, uuid, owner }) {
      await redis.eval(RELEASE, 1, keyOf(accountSid, uuid), owner);
    },
  };
}
