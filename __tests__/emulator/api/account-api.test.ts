import keyPage0 from "../../fixtures/keys-page-0-of-3.json";
import emptyPage from "../../fixtures/keys-page-empty.json";
import errors from "../../fixtures/errors.json";
import { callApi, keysPath, startEmulator, stopEmulators } from "../../support/emulators";

afterEach(stopEmulators);

describe("keys", () => {
  it("are created with a secret that is shown once", async () => {
    const emulator = await startEmulator();
    const created = await callApi(emulator, "POST", `${keysPath(emulator)}.json`, {
      form: { FriendlyName: "billing-worker" },
    });
    expect(created.status).toBe(201);
    expect(Object.keys(created.body).toSorted()).toEqual(
      ["date_created", "date_updated", "friendly_name", "secret", "sid"].toSorted(),
    );
    expect(created.body.sid).toMatch(/^SK[0-9a-f]{32}$/);
    expect(created.body.secret).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(created.body.date_created).toMatch(
      /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000$/,
    );
    const path = `${keysPath(emulator)}/${created.body.sid}.json`;
    const fetched = await callApi(emulator, "GET", path);
    const { secret: _, ...withoutSecret } = created.body;
    expect(fetched).toMatchObject({ status: 200, body: withoutSecret });
    expect(fetched.body).not.toHaveProperty("secret");
  });

  it("need no name, and a body is not needed either", async () => {
    const emulator = await startEmulator();
    const created = await callApi(emulator, "POST", `${keysPath(emulator)}.json`);
    expect(created).toMatchObject({ status: 201, body: { friendly_name: "" } });
  });

  it("are updated, with date_updated", async () => {
    let time = Date.UTC(2024, 2, 5, 9, 14, 52);
    const emulator = await startEmulator({ now: () => time });
    const { sid } = emulator.createKey({ friendly_name: "a" });
    time = Date.UTC(2024, 2, 16, 10, 11, 12, 900);
    const path = `${keysPath(emulator)}/${sid}.json`;
    expect(
      await callApi(emulator, "POST", path, { form: { FriendlyName: "b (blue)" } }),
    ).toMatchObject({
      status: 200,
      body: {
        sid,
        friendly_name: "b (blue)",
        date_created: "Tue, 05 Mar 2024 09:14:52 +0000",
        date_updated: "Sat, 16 Mar 2024 10:11:12 +0000",
      },
    });
    time += 60_000;
    expect((await callApi(emulator, "POST", path)).body.date_updated).toBe(
      "Sat, 16 Mar 2024 10:11:12 +0000",
    );
  });

  it("are deleted once", async () => {
    const emulator = await startEmulator();
    const path = `${keysPath(emulator)}/${emulator.createKey().sid}.json`;
    expect(await callApi(emulator, "DELETE", path)).toMatchObject({ status: 204, body: undefined });
    for (const method of ["DELETE", "GET", "POST"]) {
      expect(await callApi(emulator, method, path)).toMatchObject({
        status: 404,
        body: { code: 20404, message: `The requested resource ${path} was not found` },
      });
    }
  });

  it.each([
    [64, 201],
    [65, 400],
  ])("may have a name of %i characters: %i", async (length, status) => {
    const emulator = await startEmulator();
    const form = { FriendlyName: "🔑".repeat(length) };
    const created = await callApi(emulator, "POST", `${keysPath(emulator)}.json`, { form });
    expect(created.status).toBe(status);
    if (status === 400) expect(created.body).toMatchObject(errors.friendlyNameTooLong.body);
  });

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

  it("is sorted by date_updated, newest first, then by sid", async () => {
    let time = 1_700_000_000_000;
    const emulator = await startEmulator({ now: () => time });
    const sid = (digit: string) => `SK${digit.repeat(32)}`;
    for (const digit of ["b", "a", "c"]) emulator.createKey({ sid: sid(digit) });
    time += 1_000;
    emulator.createKey({ sid: sid("d") });
    time += 1_000;
    await callApi(emulator, "POST", `${keysPath(emulator)}/${sid("c")}.json`, {
      form: { FriendlyName: "touched" },
    });
    const { body } = await callApi(emulator, "GET", `${keysPath(emulator)}.json`);
    expect(body.keys.map((key: { sid: string }) => key.sid)).toEqual(["c", "d", "a", "b"].map(sid));
  });

  it.each([
    ["PageSize=1001", 20007],
    ["PageSize=0", 20007],
    ["PageSize=-1", 20007],
    ["PageSize=ten", 20007],
    ["Page=-1", 20001],
    ["PageToken=PAxyz", 21481],
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

  it("accepts a page size of 1 to 1000", async () => {
    const emulator = await startEmulator();
    for (const size of [1, 1000]) {
      const path = `${keysPath(emulator)}.json?PageSize=${size}`;
      expect(await callApi(emulator, "GET", path)).toMatchObject({
        status: 200,
        body: { page_size: size },
      });
    }
  });
});
