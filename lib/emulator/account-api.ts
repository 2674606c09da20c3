import type { ApiRequest, Route } from "./api";
import { assertMayManageKeys } from "./credentials";
import { EmulatorError, notFound } from "./errors";
import type { Key } from "./key";
import { KEY_LIST, toKeyResource, type Keys } from "./keys";
import { cutPage, formatPageQuery, readPageQuery, type Page, type PageQuery } from "./pages";
import { readForm, readOne } from "./parameters";
import { isSid } from "./sids";

/** Makes the account API: the endpoints of keys (specification, section 4.1). */
export function createAccountRoutes(accountSid: string, keys: Keys): Route[] {
  function assertAllowed({ path, identity }: ApiRequest, sid: string | undefined): void {
    assertMayManageKeys(identity);
    if (!isSid("AC", sid)) throw notFound(path);
    // Credentials are good for their own account alone.
    if (sid !== accountSid) throw new EmulatorError("NOT_AUTHENTICATED", "Authenticate");
  }

  function findKey(request: ApiRequest, [account, sid = ""]: readonly string[]): Key {
    assertAllowed(request, account);
    const key = keys.find(sid);
    if (key === undefined) throw notFound(request.path);
    return key;
  }

  return [
    {
      path: /^\/2010-04-01\/Accounts\/([^/]+)\/Keys\.json$/,
      methods: {
        GET(request, [account]) {
          assertAllowed(request, account);
          const query = readPageQuery(request.query, KEY_LIST);
          const page = cutPage(keys.list(), positionOf, query, KEY_LIST);
          return { status: 200, body: toEnvelope(page, request.path) };
        },
        POST(request, [account]) {
          assertAllowed(request, account);
          const friendly_name = readOne(readForm(request), "FriendlyName");
          // Main keys cannot be made here.
          const key = keys.create(friendly_name === undefined ? {} : { friendly_name });
          return { status: 201, body: { ...toKeyResource(key), secret: key.secret } };
        },
      },
    },
    {
      path: /^\/2010-04-01\/Accounts\/([^/]+)\/Keys\/([^/]+)\.json$/,
      methods: {
        GET: (request, params) => ({
          status: 200,
          body: toKeyResource(findKey(request, params)),
        }),
        POST(request, params) {
          const key = findKey(request, params);
          const friendlyName = readOne(readForm(request), "FriendlyName");
          if (friendlyName !== undefined) keys.rename(key, friendlyName);
          return { status: 200, body: toKeyResource(key) };
        },
        DELETE(request, params) {
          keys.remove(findKey(request, params));
          return { status: 204 };
        },
      },
    },
  ];
}

function positionOf(key: Key) {
  return { seconds: key.updatedSeconds, sid: key.sid };
}

/** The envelope of a list of keys (specification, section 2.2). */
function toEnvelope(page: Page<Key>, path: string): object {
  const { items, start, query, first, previous, next } = page;
  const link = (to: PageQuery) => `${path}?${formatPageQuery(to)}`;
  return {
    keys: items.map(toKeyResource),
    uri: link(query),
    first_page_uri: link(first),
    next_page_uri: next && link(next),
    previous_page_uri: previous && link(previous),
    page: query.page,
    page_size: query.pageSize,
    start,
    end: items.length === 0 ? 0 : start + items.length - 1,
  };
}
