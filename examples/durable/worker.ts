/** Runs handlers for stored events, without token or URL; start as many processes as needed. */
import { createHandlers } from "express-push-verification";
import { createQueue } from "./push";

const queue = createQueue();
const handlers = createHandlers();
handlers.on(["factor.created", "challenge.approved"], async ({ type, uuid }, { attempt }) => {
  // A real handler takes time and fails now and then; the queue runs it again.
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (attempt === 1 && uuid.startsWith("0")) throw new Error("the first attempt fails");
  console.log(`worker ${process.pid}: ${type}, attempt ${attempt}`);
});
const worker = queue.work(handlers, {
  concurrency: 4,
  onError: (error) => console.log(`worker ${process.pid}: ${error.code}, will run again`),
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"]) {
  process.once(signal, () => void close());
}

async function close(): Promise<void> {
  await worker.close();
  await queue.close();
}
