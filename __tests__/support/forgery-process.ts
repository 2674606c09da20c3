/** A share of the forgeries and genuine requests of `npm run fuzz`; sends its counts. */
import { countForgeries, findRejected, SETTINGS, type ForgeryCount } from "./forgery-run";

const [, , texts = "0", requests = "0", seed = "0"] = process.argv;

async function main(): Promise<void> {
  const counts: ForgeryCount[] = [];
  for (const [index, [, options]] of SETTINGS.entries()) {
    // The default settings get half of the texts.
    const share = index === 0 ? 0.5 : 0.5 / (SETTINGS.length - 1);
    const count = Math.ceil(Number(texts) * share);
    counts.push(await countForgeries(count, Number(seed) + index, options));
  }
  const rejected = await findRejected(Number(requests), Number(seed));
  process.send?.({ counts, rejected, requests: Number(requests) });
}

void main();
