/** A share of the forgeries and genuine requests of `npm run fuzz`; sends what it counted. */
import { countForgeries, findRefused, OPTIONS, WITH_GET } from "./forgery-run";

const [, , texts = "0", requests = "0", seed = "0"] = process.argv;

async function main(): Promise<void> {
  const half = Math.ceil(Number(texts) / 2);
  const counts = [
    await countForgeries(half, Number(seed), OPTIONS),
    await countForgeries(half, Number(seed) + 1, WITH_GET),
  ];
  const refused = await findRefused(Number(requests), Number(seed));
  process.send?.({ counts, refused, requests: Number(requests) });
}

void main();
