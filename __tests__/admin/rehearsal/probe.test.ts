import { probeUrl } from "../../../lib/admin/rehearsal/probe";
import { startTarget, stopEmulators } from "../../support/emulators";

afterEach(stopEmulators);

it.each<[probe: string, arrivesHere: (count: number) => boolean, requests: number]>([
  ["here", () => true, 4],
  ["another process", () => false, 1],
  // A balancer sends the requests to both in turn.
  ["another process", (count) => count < 3, 3],
])("tells %s, after so many requests", async (probe, arrivesHere, requests) => {
  let count = 0;
  let arrived = 0;
  const url = await startTarget((_req, res) => {
    if (arrivesHere(++count)) arrived++;
    res.writeHead(403, { "Cache-Control": "no-store" }).end("Forbidden\n");
  });
  expect(await probeUrl(url, () => arrived)).toBe(probe);
  expect(count).toBe(requests);
});
