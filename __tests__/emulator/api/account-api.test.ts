/** What the rows of the specification do not say of keys; see specification.test.ts. */
import keyPage0 from "../../fixtures/keys-page-0-of-3.json";
import emptyPage from "../../fixtures/keys-page-empty.json";
import errors from "../../fixtures/errors.json";
import { callApi, keysPath, startEmulator, stopEmulators } from "../../support/emulators";

afterEach(stopEmulators);

describe("keys", () => {
  it("have a limit", async () => {
    const emulator = await startEmulator({ maxKeys: 1 });
    emulator.createKey();
    expect(await callApi(emulator, "POST", `${keysPath(emulator)}.json`)).toMatchObject({
      status: 400,
      body: errors.tooManyKeys.body,
    });
  });
});

describe("the list of keys", () => {
  it("has the envelope of the specification", async () => {
    const emulator = await startEmulator();
    const list = `${keysPath(emulator)}.json`;
    const empty = await callApi(emulator, "GET", list);
    expect(Object.keys(empty.body).toSorted()).toEqual(Object.keys(emptyPage).toSorted());
    expect(empty.body).toEqual({
      ...emptyPage,
      uri: `${list}?PageSize=50&Page=0`,
      first_page_uri: `${list}?PageSize=50&Page=0`,
    });
    for (let count = 0; count < 5; count++) emulator.createKey();
    const pages = [];
    let next: string | null = `${list}?PageSize=2`;
    while (next !== null) {
      const page = await callApi(emulator, "GET", next);
      expect(Object.keys(page.body).toSorted()).toEqual(Object.keys(keyPage0).toSorted());
      pages.push(page.body);
      next = page.body.next_page_uri as string | null;
    }
    expect(pages.map(({ page, start, end }) => [page, start, end])).toEqual([
      [0, 0, 1],
      [1, 2, 3],
      [2, 4, 4],
    ]);
    expect(pages[0].previous_page_uri).toBeNull();
    expect(pages[1].uri).toBe(pages[0].next_page_uri);
    expect(pages[1].uri).toMatch(/\?PageSize=2&Page=1&PageToken=[\w-]+$/);
    const back = await callApi(emulator, "GET", pages[2].previous_page_uri as string);
    expect(back.body.keys).toEqual(pages[1].keys);
    expect(back.body).toMatchObject({ page: 1, start: 2, end: 3 });
  });

  it("has start and end relative to the first key of the list", async () => {
    const emulator = await startEmulator();
    const list = `${keysPath(emulator)}.json`;
    for (let count = 0; count < 4; count++) emulator.createKey();
    const first = await callApi(emulator, "GET", `${list}?PageSize=2`);
    for (const { sid } of first.body.keys) {
      await callApi(emulator, "DELETE", `${keysPath(emulator)}/${sid}.json`);
    }
    const next = await callApi(emulator, "GET", first.body.next_page_uri as string);
    expect(next.body).toMatchObject({ start: 0, end: 1, previous_page_uri: null });
    const far = await callApi(emulator, "GET", `${list}?PageSize=2&Page=999999999999999`);
    expect(far.body).toMatchObject({ start: 0, end: 1 });
  });

  it.each([
    ["Page=-1", 20001],
    ["PageToken=constructor", 21481],
    ["PageToken=PAMTc5NTI1MjU5MzpZV2M5MmQzMThiMjA0ZWQ5YWIzMzcyNDk3ZGYxMGJjNjli", 21481],
    ["PageSize=%zz", 20001],
  ])("rejects %s with %i", async (query, code) => {
    const emulator = await startEmulator();
    expect(await callApi(emulator, "GET", `${keysPath(emulator)}.json?${query}`)).toMatchObject({
      status: 400,
      body: { code, status: 400 },
    });
  });
});
