/** The admin router, called by pages of other origins in a real browser. */
import type { RequestHandler } from "express";
import type { Page } from "playwright-core";
import { describeWithBrowser, useBrowser } from "../../support/browser";
import { startServer } from "../../support/servers";
import { startUpstream, stopUpstreams } from "../../support/upstream";
import { makeStaffApp } from "../staff-app";

const { openPage, takeFaults } = useBrowser();
afterEach(stopUpstreams);

/** Sends the CORS headers to every origin, so that rejections come from the router itself. */
const cors: RequestHandler = (req, res, next) => {
  res.set("Access-Control-Allow-Origin", req.get("origin") ?? "*");
  res.set("Vary", "Origin");
  if (req.method !== "OPTIONS") return next();
  res.set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE");
  res.set("Access-Control-Allow-Headers", "Content-Type");
  res.sendStatus(204);
};

/** Starts a page that holds nothing; returns its origin. */
async function startPage(): Promise<string> {
  const port = await startServer((_req, res) => {
    res.setHeader("Content-Type", "text/html");
    res.end(`<!doctype html><title>staff</title><link rel="icon" href="data:," />`);
  });
  return `http://localhost:${port}`;
}

/** Starts the router, which allows the pages of one origin; `host` is where it is called. */
async function startRouter(host: string, before: RequestHandler[]) {
  const upstream = await startUpstream();
  const [staff, other] = [await startPage(), await startPage()];
  const { app, audits } = makeStaffApp(upstream, { allowedOrigins: [staff], before });
  const url = `http://${host}:${await startServer(app)}/admin/keys`;
  return { upstream, audits, staff, other, url };
}

interface Called {
  status: number;
  body: { sid?: string; code?: string };
}

/** Calls the API from the script of a page. */
const call = (page: Page, url: string, method: string, body?: object): Promise<Called> =>
  page.evaluate(
    async ([target, init]) => {
      const response = await fetch(target, init);
      const text = await response.text();
      return {
        status: response.status,
        body: (text === "" ? {} : JSON.parse(text)) as Called["body"],
      };
    },
    [
      url,
      {
        method,
        ...(body !== undefined && {
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify(body),
        }),
      },
    ] as const,
  );

describeWithBrowser.each([
  ["same-site", "localhost"],
  ["cross-site", "127.0.0.1"],
])("a page of another origin, %s", (_site, host) => {
  it("creates, renames and deletes when its origin is allowed", async () => {
    const { audits, staff, url } = await startRouter(host, [cors]);
    const page = await openPage(staff);
    const created = await call(page, url, "POST", { friendly_name: "of staff" });
    expect(created).toMatchObject({ status: 201, body: { friendly_name: "of staff" } });
    const key = `${url}/${created.body.sid}`;
    const renamed = await call(page, key, "PATCH", { friendly_name: "renamed" });
    expect(renamed).toMatchObject({ status: 200, body: { friendly_name: "renamed" } });
    expect(await call(page, key, "DELETE")).toMatchObject({ status: 204 });
    expect(audits.map(({ action, status }) => [action, status])).toEqual([
      ["key.create", 201],
      ["key.update", 200],
      ["key.delete", 204],
    ]);
    takeFaults();
  });

  it("writes nothing when its origin is not allowed, although CORS lets it", async () => {
    const { upstream, audits, other, url } = await startRouter(host, [cors]);
    const { sid } = upstream.createKey("in use");
    const page = await openPage(other);
    const rejected = { status: 403, body: { code: "CROSS_SITE" } };
    expect(await call(page, url, "POST", { friendly_name: "of a thief" })).toMatchObject(rejected);
    expect(await call(page, `${url}/${sid}`, "DELETE")).toMatchObject(rejected);
    expect(upstream.seen).toEqual([]);
    expect(audits.map(({ code }) => code)).toEqual(["CROSS_SITE", "CROSS_SITE"]);
    takeFaults();
  });
});
