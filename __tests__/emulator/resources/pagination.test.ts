import fc from "fast-check";
import { KEY_LIST } from "../../../lib/emulator/resources/keys";
import { cutPage, orderBy, type ListPage } from "../../../lib/emulator/resources/pagination";
import { createSid } from "../../../lib/emulator/resources/sids";
import { decodeForm } from "../../../lib/form/form";

interface Item {
  sid: string;
  date_created: string;
  date_updated: string;
}
const create = (updatedSeconds: number): Item => ({
  sid: createSid("SK"),
  date_created: "2024-03-05T09:20:00Z",
  date_updated: new Date(updatedSeconds * 1000).toUTCString(),
});
const sort = (items: Item[]) =>
  items.toSorted(
    (a, b) => Date.parse(b.date_updated) - Date.parse(a.date_updated) || (a.sid < b.sid ? -1 : 1),
  );

function cut(items: Item[], query: string, rules = KEY_LIST): ListPage<Item> {
  return cutPage(items, decodeForm(query), "/list", rules);
}

function follow(items: Item[], link: ListPage<Item>["next"]): ListPage<Item> {
  const [path, query = ""] = link!.split("?");
  expect(path).toBe("/list");
  return cut(items, query);
}

describe("pages", () => {
  it("show each item exactly once while other items are created and deleted", () => {
    const change = fc.record({
      remove: fc.array(fc.nat(30), { maxLength: 4 }),
      add: fc.array(fc.nat(5), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(
        fc.array(fc.nat(5), { maxLength: 20 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(change, { maxLength: 12 }),
        (seconds, pageSize, changes) => {
          let items = seconds.map(create);
          const staying = new Set(items);
          const seen: Item[] = [];
          const pending = [...changes];
          let page = cut(items, `PageSize=${pageSize}`);
          seen.push(...page.items);
          while (page.next !== null) {
            const { remove, add } = pending.shift() ?? { remove: [], add: [] };
            for (const index of remove) staying.delete(items[index]!);
            items = items.filter((_, index) => !remove.includes(index));
            items.push(...add.map(create));
            page = follow(items, page.next);
            seen.push(...page.items);
          }
          const stayed = seen.filter((item) => staying.has(item));
          expect(sort(stayed)).toEqual(sort([...staying]));
          expect(seen).toEqual(sort(seen));
          expect(new Set(seen).size).toBe(seen.length);
        },
      ),
    );
  });

  it("show the same items backwards as forwards", () => {
    const items = Array.from({ length: 11 }, (_, index) => create(index % 3));
    const forth = [cut(items, "PageSize=3")];
    while (forth.at(-1)!.next !== null) forth.push(follow(items, forth.at(-1)!.next));
    const back = [forth.at(-1)!];
    while (back.at(-1)!.previous !== null) back.push(follow(items, back.at(-1)!.previous));
    expect(forth.flatMap((page) => page.items)).toHaveLength(11);
    // The last page is short, so going back from it fills whole pages from there.
    expect(back.toReversed().flatMap((page) => page.items)).toEqual(
      forth.flatMap((page) => page.items),
    );
    expect(back.at(-1)!.page).toBe(0);
  });

  it("link to other pages from a page whose items were deleted", () => {
    const items = [3, 2, 1, 0].map(create);
    const first = cut(items, "PageSize=2");
    const emptied = follow(items.slice(0, 2), first.next);
    expect(emptied).toMatchObject({ items: [], next: null });
    expect(follow(items.slice(0, 2), emptied.previous).items).toEqual(items.slice(0, 2));

    const last = follow(items, first.next);
    const beginning = follow(items.slice(2), last.previous);
    expect(beginning).toMatchObject({ items: [], previous: null });
    expect(follow(items.slice(2), beginning.next).items).toEqual(items.slice(2));
  });

  it("begin at the position of the token and ignore Page", () => {
    const items = [3, 2, 1, 0].map(create);
    expect(cut(items, "PageSize=2&Page=7")).toMatchObject({
      items: items.slice(0, 2),
      page: 7,
    });
  });

  it("reject a token of another list and a malformed token", () => {
    const { next } = cut([2, 1].map(create), "PageSize=1");
    const token = next!.split("&PageToken=")[1]!;
    const read = (text: string, rules = KEY_LIST) => cut([], `PageToken=${text}`, rules);
    expect(read(token).url).toBe(`/list?PageSize=50&Page=0&PageToken=${token}`);
    expect(() => read(token, orderBy("YW"))).toThrow(
      expect.objectContaining({ serviceCode: 60306 }),
    );
    for (const other of [
      `${token}=`,
      `${token}A`,
      token.slice(0, -1),
      `PX${token.slice(2)}`,
      "x",
    ]) {
      expect(() => read(other)).toThrow(
        expect.objectContaining({ serviceCode: 21481, status: 400 }),
      );
    }
    expect(read("").url).toBe("/list?PageSize=50&Page=0");
  });
});
