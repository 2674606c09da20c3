/** Handles stored events; start as many as you like. */
import { createPush } from "./push";

const { push, queue } = createPush();
push.on("*", async ({ type, uuid }, { attempt }) => {
  // What a real handler does takes time, and fails now and then: it is run again.
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (attempt === 1 && uuid.startsWith("0")) throw new Error("the first try fails");
  console.log(`worker ${process.pid}: ${type}, attempt ${attempt}`);
});
push.onError((error) => console.log(`worker ${process.pid}: ${error.code}, will try again`));
queue.work(push, { concurrency: 4 });
process.once("SIGTERM", () => void queue.close());
