import * as z from "../../validation/zod";
import { created, existing } from "./endpoint-router";
import type { EndpointGroup, EndpointRequest, Endpoints } from "./endpoint-router";
import { assertMayManageKeys } from "./credentials";
import { EmulatorError, notFound } from "../emulator-error";
import { toKeyResource, type StoredKeys } from "../resources/keys";
import { cutPage, type ListRules } from "./pagination";
import { readForm, readParameters } from "./parameters";
import { isSid } from "../../form/sid";

const KEY_PARAMETERS = z.object({ friendly_name: z.string().optional() });

/** Order of keys: the newest `date_updated` first, then by SID (section 2.2). */
const KEY_LIST: ListRules = {
  prefix: "SK",
  sortedBy: "date_updated",
  newestFirst: true,
  invalid: { PageSize: "PAGE_SIZE_INVALID", Page: "BAD_REQUEST", PageToken: "PAGE_TOKEN_INVALID" },
};

/** Creates the endpoints of the account API: those of keys (specification, section 4.1). */
export function createAccountEndpoints(accountSid: string, keys: StoredKeys): EndpointGroup {
  const findKey = (request: EndpointRequest) => existing(keys.find(request.params[1]), request);

  const endpoints: Endpoints = {
    "/Keys.json": {
      GET(request) {
        const page = cutPage(keys.list(), request.query, request.path, KEY_LIST);
        // The envelope of the specification (section 2.2).
        return {
          keys: page.items.map(toKeyResource),
          uri: page.url,
          first_page_uri: page.first,
          next_page_uri: page.next,
          previous_page_uri: page.previous,
          page: page.page,
          page_size: page.pageSize,
          start: page.start,
          end: page.start + Math.max(page.items.length - 1, 0),
        };
      },
      POST(request) {
        // The account API creates Standard keys only.
        const key = keys.create(readNewName(request));
        return created({ ...toKeyResource(key), secret: key.secret });
      },
    },
    "/Keys/{Sid}.json": {
      GET: (request) => toKeyResource(findKey(request)),
      POST(request) {
        const key = findKey(request);
        const { friendly_name } = readNewName(request);
        if (friendly_name !== undefined) keys.rename(key, friendly_name);
        return toKeyResource(key);
      },
      DELETE: (request) => keys.remove(findKey(request)),
    },
  };
  return {
    prefix: "/2010-04-01/Accounts/{AccountSid}",
    endpoints,
    check({ path, caller, params: [account] }) {
      assertMayManageKeys(caller);
      if (!isSid("AC", account)) throw notFound(path);
      // Credentials are valid for their own account only.
      if (account !== accountSid) throw new EmulatorError("NOT_AUTHENTICATED", "Authenticate");
    },
  };
}

function readNewName(request: EndpointRequest) {
  return readParameters(readForm(request), KEY_PARAMETERS, () => "PARAMETER_INVALID");
}
