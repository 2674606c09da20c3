import errors from "../../fixtures/errors.json";
import sample from "../../fixtures/webhook.json";
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
  it("are created with every field of the specification", async () => {
    const emulator = await startEmulator({ now: () => Date.UTC(2024, 2, 5, 9, 20, 0, 700) });
    const created = await callApi(emulator, "POST", webhooksPath(emulator), { form: FORM });
    expect(created.status).toBe(201);
    expect(Object.keys(created.body).toSorted()).toEqual(Object.keys(sample).toSorted());
    expect(created.body).toEqual({
      sid: expect.stringMatching(/^YW[0-9a-f]{32}$/),
      service_sid: emulator.serviceSid,
      account_sid: emulator.accountSid,
      friendly_name: "login events",
      event_types: ["factor.verified", "challenge.approved"],
      status: "enabled",
      version: "v2",
      webhook_url: "https://hooks.example.test/push/events",
      webhook_method: "POST",
      date_created: "2024-03-05T09:20:00Z",
      date_updated: "2024-03-05T09:20:00Z",
      url: `${emulator.url}${webhooksPath(emulator)}/${created.body.sid}`,
    });
    expect(await callApi(emulator, "GET", created.body.url as string)).toMatchObject({
      status: 200,
      body: created.body,
    });
  });

  it("are updated field by field", async () => {
    let time = Date.UTC(2024, 2, 5);
    const emulator = await startEmulator({ now: () => time });
    const created = await callApi(emulator, "POST", webhooksPath(emulator), { form: FORM });
    time += 5_000;
    const path = `${webhooksPath(emulator)}/${created.body.sid}`;
    const form = { Status: "disabled", EventTypes: "*", Version: "v1", WebhookMethod: "GET" };
    expect(await callApi(emulator, "POST", path, { form })).toMatchObject({
      status: 200,
      body: {
        ...created.body,
        status: "disabled",
        event_types: ["*"],
        version: "v1",
        date_updated: "2024-03-05T00:00:05Z",
      },
    });
    time += 5_000;
    expect((await callApi(emulator, "POST", path)).body.date_updated).toBe("2024-03-05T00:00:05Z");
  });

  it("are deleted once", async () => {
    const emulator = await startEmulator();
    const { sid } = emulator.createWebhook({ webhook_url: "http://127.0.0.1:9/" });
    const path = `${webhooksPath(emulator)}/${sid}`;
    expect(await callApi(emulator, "DELETE", path)).toMatchObject({ status: 204, body: undefined });
    for (const method of ["DELETE", "GET", "POST"]) {
      expect(await callApi(emulator, method, path)).toMatchObject({
        status: 404,
        body: {
          code: 20404,
          message: `The requested resource ${path.replace("/v2", "")} was not found`,
        },
      });
    }
  });

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
    ["no EventTypes", without("EventTypes"), 60200],
    ["no WebhookUrl", without("WebhookUrl"), 60200],
    ["a relative WebhookUrl", { ...asRecord(), WebhookUrl: "/push" }, 60200],
    ["a WebhookUrl of another kind", { ...asRecord(), WebhookUrl: "ftp://a/" }, 60200],
    ["a Status that does not exist", { ...asRecord(), Status: "paused" }, 60200],
    ["a Version that does not exist", { ...asRecord(), Version: "v3" }, 60200],
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

  it.each(["PageSize=1001", "PageSize=0", "Page=x", "PageToken=PA"])(
    "rejects %s",
    async (query) => {
      const emulator = await startEmulator();
      expect(await callApi(emulator, "GET", `${webhooksPath(emulator)}?${query}`)).toMatchObject({
        status: errors.verifyInvalidListParameter.status,
        body: { code: errors.verifyInvalidListParameter.body.code },
      });
    },
  );
});

function asRecord(): Record<string, string> {
  return Object.fromEntries(FORM) as Record<string, string>;
}

function without(name: string): Form {
  return FORM.filter(([other]) => other !== name);
}
