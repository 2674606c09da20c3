import { created, found, type Endpoint, type EndpointRequest } from "./endpoint-router";
import { assertMayManageKeys } from "./credentials";
import { EmulatorError, notFound } from "../emulator-error";
import type { StoredKey } from "../resources/key";
import { KEY_LIST, toKeyResource, type StoredKeys } from "../resources/keys";
import {
  cutPage,
  formatPageParameters,
  readPageParameters,
  type ListPage,
  type PageParameters,
} from "../resources/pagination";
import { readForm, readSingle } from "./request-form";
import { isSid } from "../../form/sid";

/** Creates the endpoints of the account API: those of keys (specification, section 4.1). */
export function createAccountEndpoints(accountSid: string, keys: StoredKeys): Endpoint[] {
  function assertAllowed({ path, identity }: EndpointRequest, sid: string | undefined): void {
    assertMayManageKeys(identity);
    if (!isSid("AC", sid)) throw notFound(path);
    // Credentials are valid for their own account only.
    if (sid !== accountSid) throw new EmulatorError("NOT_AUTHENTICATED", "Authenticate");
  }

  function findKey(request: EndpointRequest, [account, sid = ""]: readonly string[]): StoredKey {
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
          const query = readPageParameters(request.query, KEY_LIST);
          const page = cutPage(keys.list(), positionOf, query, KEY_LIST);
          return found(toEnvelope(page, request.path));
        },
        POST(request, [account]) {
          assertAllowed(request, account);
          const friendly_name = readSingle(readForm(request), "FriendlyName");
          // The account API creates Standard keys only.
          const key = keys.create(friendly_name === undefined ? {} : { friendly_name });
          return created({ ...toKeyResource(key), secret: key.secret });
        },
      },
    },
    {
      path: /^\/2010-04-01\/Accounts\/([^/]+)\/Keys\/([^/]+)\.json$/,
      methods: {
        GET: (request, params) => found(toKeyResource(findKey(request, params))),
        POST(request, params) {
          const key = findKey(request, params);
          const friendlyName = readSingle(readForm(request), "FriendlyName");
          if (friendlyName !== undefined) keys.rename(key, friendlyName);
          return found(toKeyResource(key));
        },
        DELETE(request, params) {
          keys.remove(findKey(request, params));
          return { status: 204 };
        },
      },
    },
  ];
}

function positionOf(key: StoredKey) {
  return { seconds: key.updatedSeconds, sid: key.sid };
}

/** Returns the envelope of a page of keys (specification, section 2.2). */
function toEnvelope(page: ListPage<StoredKey>, path: string): object {
  const { items, start, query, first, previous, next } = page;
  const link = (to: PageParameters) => `${path}?${formatPageParameters(to)}`;
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
