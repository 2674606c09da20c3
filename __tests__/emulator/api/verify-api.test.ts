/** What the rows of the specification do not say of webhooks; see specification.test.ts. */
import errors from "../../fixtures/errors.json";
import emptyPage from "../../fixtures/webhooks-page-empty.json";
import {
  callApi,
  startEmulator,
  stopEmulators,
  webhooksPath,
  type Form,
} from "../../support/emulators";

afterEach(stopEmulators);

const FORM: [string, string][] = [
  ["FriendlyName", "login events"],
  ["EventTypes", "factor.verified"],
  ["EventTypes", "challenge.approved"],
  ["WebhookUrl", "https://hooks.example.test/push/events"],
];

describe("webhooks", () => {
  it("are not found in another service", async () => {
    const emulator = await startEmulator();
    const other = webhooksPath(emulator).replace(/VA./, "VAx");
    expect(await callApi(emulator, "GET", other)).toMatchObject({ status: 404 });
    expect(await callApi(emulator, "POST", other, { form: FORM })).toMatchObject({ status: 404 });
  });

  it.each([
    ["no FriendlyName", without("FriendlyName"), errors.webhookMissingParameter.body.code],
    ["an empty FriendlyName", { ...asRecord(), FriendlyName: "" }, 60200],
    ["FriendlyName twice", [...FORM, ["FriendlyName", "b"]], 60200],
    ["a relative WebhookUrl", { ...asRecord(), WebhookUrl: "/push" }, 60200],
    ["a WebhookUrl of another kind", { ...asRecord(), WebhookUrl: "ftp://a/" }, 60200],
    [
      "an event type that does not exist",
      { ...asRecord(), EventTypes: "factor.removed" },
      errors.webhookInvalidEventTypes.body.code,
    ],
    ["event types in one value", { ...asRecord(), EventTypes: "factor.created,*" }, 60306],
  ] as [string, Form, number][])("are not created with %s", async (_what, form, code) => {
    const emulator = await startEmulator();
    expect(await callApi(emulator, "POST", webhooksPath(emulator), { form })).toMatchObject({
      status: 400,
      body: { code },
    });
    expect((await callApi(emulator, "GET", webhooksPath(emulator))).body.webhooks).toEqual([]);
  });

  it("are not created from JSON, nor from a malformed form", async () => {
    const emulator = await startEmulator();
    for (const [type, body] of [
      ["application/json", "{}"],
      ["application/x-www-form-urlencoded", "FriendlyName=%zz"],
    ]) {
      const response = await fetch(emulator.url + webhooksPath(emulator), {
        method: "POST",
        headers: {
          authorization: `Basic ${btoa(`${emulator.accountSid}:${emulator.authToken}`)}`,
          "content-type": type ?? "",
        },
        body: body ?? "",
      });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 20001 });
    }
  });
});

describe("the list of webhooks", () => {
  it("has the envelope of the specification", async () => {
    const emulator = await startEmulator();
    const list = emulator.url + webhooksPath(emulator);
    const empty = await callApi(emulator, "GET", list);
    expect(empty.body).toEqual({
      webhooks: [],
      meta: {
        ...emptyPage.meta,
        first_page_url: `${list}?PageSize=50&Page=0`,
        url: `${list}?PageSize=50&Page=0`,
      },
    });
    for (let count = 0; count < 3; count++) {
      emulator.createWebhook({ webhook_url: "http://127.0.0.1:9/" });
    }
    const first = await callApi(emulator, "GET", `${list}?PageSize=2`);
    const second = await callApi(emulator, "GET", first.body.meta.next_page_url as string);
    expect(second.body.webhooks).toHaveLength(1);
    expect(second.body.meta).toMatchObject({ page: 1, page_size: 2, next_page_url: null });
    const back = await callApi(emulator, "GET", second.body.meta.previous_page_url as string);
    expect(back.body.webhooks).toEqual(first.body.webhooks);
  });

  it("is sorted by date_created, then by sid", async () => {
    let time = 1_700_000_000_000;
    const emulator = await startEmulator({ now: () => time });
    const sids: string[] = [];
    for (let count = 0; count < 6; count++) {
      sids.push(emulator.createWebhook({ webhook_url: "http://127.0.0.1:9/" }).sid);
      if (count % 2 === 1) time += 1_000;
    }
    const expected = [sids.slice(0, 2), sids.slice(2, 4), sids.slice(4)].flatMap((two) =>
      two.toSorted(),
    );
    const { body } = await callApi(emulator, "GET", webhooksPath(emulator));
    expect(body.webhooks.map(({ sid }: { sid: string }) => sid)).toEqual(expected);
  });

  it("has URLs with the Host of the request", async () => {
    const emulator = await startEmulator();
    const url = emulator.url.replace("127.0.0.1", "localhost");
    const { body } = await callApi(emulator, "GET", url + webhooksPath(emulator));
    expect(body.meta.url).toMatch(url);
  });
});

function asRecord(): Record<string, string> {
  return Object.fromEntries(FORM) as Record<string, string>;
}

function without(name: string): Form {
  return FORM.filter(([other]) => other !== name);
}
