/** Pages of lists that change, and their links; see specification.test.ts for the members of a page. */
import fc from "fast-check";
import type { Emulator } from "express-push-verification/emulator";
import {
  callApi,
  keysPath,
  startEmulator,
  stopEmulators,
  webhooksPath,
} from "../../support/emulators";

interface Key {
  sid: string;
  date_updated: string;
}

let emulator: Emulator;
let seconds: number;
let list: string;

async function start(): Promise<void> {
  seconds = 0;
  emulator = await startEmulator({ now: () => seconds * 1000 });
  list = `${keysPath(emulator)}.json`;
}
beforeEach(start);
afterEach(stopEmulators);

/** Creates a key for each of these times of creation, in seconds. */
const create = (times: number[]) =>
  times.map((time) => {
    seconds = time;
    return emulator.createKey().sid;
  });
const remove = (sids: string[]) =>
  Promise.all(sids.map((sid) => callApi(emulator, "DELETE", `${keysPath(emulator)}/${sid}.json`)));
const read = async (path: string | null) =>
  (await callApi(emulator, "GET", path ?? "no page")).body;
const sidsOf = (page: { keys: Key[] }) => page.keys.map(({ sid }) => sid);

describe("the pages of a list", () => {
  it("show each key exactly once, in order, while others are created and deleted", async () => {
    const change = fc.record({
      removed: fc.array(fc.nat(30), { maxLength: 4 }),
      added: fc.array(fc.nat(5), { maxLength: 3 }),
    });
    const property = fc.asyncProperty(
      fc.array(fc.nat(5), { maxLength: 20 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(change, { maxLength: 12 }),
      async (times, pageSize, changes) => {
        await start();
        let sids = create(times);
        const staying = new Set(sids);
        let page = await read(`${list}?PageSize=${pageSize}`);
        const seen: Key[] = [...page.keys];
        while (page.next_page_uri !== null) {
          const { removed, added } = changes.shift() ?? { removed: [], added: [] };
          const gone = sids.filter((_sid, index) => removed.includes(index));
          await remove(gone);
          for (const sid of gone) staying.delete(sid);
          sids = sids.filter((sid) => !gone.includes(sid)).concat(create(added));
          page = await read(page.next_page_uri);
          seen.push(...page.keys);
        }
        const timeOf = ({ date_updated }: Key) => Date.parse(date_updated);
        const sorted = seen.toSorted((a, b) => timeOf(b) - timeOf(a) || (a.sid < b.sid ? -1 : 1));
        expect(seen).toEqual(sorted);
        const seenSids = seen.map(({ sid }) => sid);
        expect(new Set(seenSids).size).toBe(seen.length);
        expect(seenSids).toEqual(expect.arrayContaining([...staying]));
      },
    );
    await fc.assert(property, { numRuns: 20 });
  });

  it("link and count the remaining keys from a page whose keys were deleted", async () => {
    const sids = create([3, 2, 1, 0]);
    const first = await read(`${list}?PageSize=2`);
    const last = await read(first.next_page_uri);
    await remove(sids.slice(0, 3));
    const beginning = await read(last.previous_page_uri);
    expect(beginning).toMatchObject({ keys: [], previous_page_uri: null });
    const next = await read(beginning.next_page_uri);
    expect(next).toMatchObject({ start: 0, end: 0, previous_page_uri: null });
    expect(sidsOf(next)).toEqual(sids.slice(3));

    create([5, 4]);
    const two = await read(`${list}?PageSize=2`);
    await remove(sids.slice(3));
    const emptied = await read(two.next_page_uri);
    expect(emptied).toMatchObject({ keys: [], start: 0, next_page_uri: null });
    expect(sidsOf(await read(emptied.previous_page_uri))).toEqual(sidsOf(two));
  });

  it("accept only tokens that their list issued", async () => {
    create([2, 1]);
    const { next_page_uri } = await read(`${list}?PageSize=1`);
    const [, token = ""] = next_page_uri.split("&PageToken=");
    const at = async (path: string, query: string) => {
      const { status, body } = await callApi(emulator, "GET", `${path}?${query}`);
      return status === 200 ? (body.uri as string) : (body.code as number);
    };
    expect(await at(list, `PageToken=${token}`)).toBe(
      `${list}?PageSize=50&Page=0&PageToken=${token}`,
    );
    expect(await at(list, "PageToken=")).toBe(`${list}?PageSize=50&Page=0`);
    expect(await at(webhooksPath(emulator), `PageToken=${token}`)).toBe(60306);
    for (const other of [
      `${token}=`,
      `${token}A`,
      token.slice(0, -1),
      `PX${token.slice(2)}`,
      // The page token of a list of webhooks.
      "PAMTc5NTI1MjU5MzpZV2M5MmQzMThiMjA0ZWQ5YWIzMzcyNDk3ZGYxMGJjNjli",
    ]) {
      expect(await at(list, `PageToken=${other}`)).toBe(21481);
    }
    expect(await at(list, "PageSize=%zz")).toBe(20001);
  });
});
