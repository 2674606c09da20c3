import { randomUUID } from "node:crypto";
import { cookies } from "next/headers";
import { redirect } from "next/navigation";
import { Suspense } from "react";
import { WebhookError } from "express-push-verification";
import { usePush } from "../../lib/push";
import { createChallenge } from "../../lib/service"; // that of examples/login.ts

interface Attempt {
  entityIdentity: string;
  challengeSid: string;
}
const shared = globalThis as { attempts?: Map<string, Attempt> };
const attempts = (shared.attempts ??= new Map<string, Attempt>());

async function logIn(form: FormData): Promise<void> {
  "use server";
  const entityIdentity = String(form.get("user")); // your code: checks the password, too
  const id = randomUUID(); // known to this browser only
  attempts.set(id, { entityIdentity, challengeSid: await createChallenge(entityIdentity) });
  setTimeout(() => attempts.delete(id), 300_000).unref();
  (await cookies()).set("attempt", id, { httpOnly: true, sameSite: "lax", maxAge: 300 });
  redirect("/login");
}

/** Waits for the phone. Next.js sends the fallback first, and the result in the same response. */
async function Result({ id }: { id: string }) {
  const attempt = attempts.get(id);
  if (attempt === undefined) return <p>This login is over.</p>;
  try {
    const { type } = await usePush().waitForChallenge({ ...attempt, timeoutMs: 25_000 });
    if (!attempts.delete(id) || type !== "challenge.approved") return <p>The login was denied.</p>;
    // Your code: a route starts the session, because a page cannot set a cookie.
    return <p>Welcome!</p>;
  } catch (error) {
    const isPending = error instanceof WebhookError && error.code === "CHALLENGE_TIMEOUT";
    // Not decided yet: the browser loads the page again.
    return isPending ? <meta httpEquiv="refresh" content="0" /> : <p>Try again later.</p>;
  }
}

export default async function LoginPage() {
  const id = (await cookies()).get("attempt")?.value;
  if (id === undefined) {
    return (
      <form action={logIn}>
        <input name="user" />
        <button>Log in</button>
      </form>
    );
  }
  return (
    <Suspense fallback={<p>Approve the login on your phone.</p>}>
      <Result id={id} />
    </Suspense>
  );
}
