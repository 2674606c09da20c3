import * as z from "zod";
import { created } from "./endpoint-router";
import type { EndpointGroup, EndpointRequest, Endpoints } from "./endpoint-router";
import { assertMayManageKeys } from "./credentials";
import { EmulatorError, existing } from "../emulator-error";
import { toKeyResource, type StoredKeys } from "../resources/keys";
import { cutPage, type ListRules } from "./pagination";
import { readForm, readParameters } from "./parameters";
import { isSid } from "../../kit/sid";

const KEY_PARAMETERS = z.object({ friendly_name: z.string().optional() });

const KEY_LIST: ListRules = {
  prefix: "SK",
  unit: "uri",
  sortedBy: "date_updated",
  newestFirst: true,
  invalid: { PageSize: "PAGE_SIZE_INVALID", Page: "BAD_REQUEST", PageToken: "PAGE_TOKEN_INVALID" },
};

/** Creates the endpoints of the account API, which has keys (specification, section 4.1). */
export function createAccountEndpoints(accountSid: string, keys: StoredKeys): EndpointGroup {
  const findKey = ({ params, path }: EndpointRequest) => existing(keys.find(params[1]), path);

  const endpoints: Endpoints = {
    "/Keys.json": {
      GET(request) {
        const { items, start, meta } = cutPage(keys.list(), request.query, request.path, KEY_LIST);
        // The envelope of the specification (section 2.2).
        const end = start + Math.max(items.length - 1, 0);
        return { keys: items.map(toKeyResource), ...meta, start, end };
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
      existing(isSid("AC", account) ? account : undefined, path);
      // Credentials are valid for their own account only.
      if (account !== accountSid) throw new EmulatorError("NOT_AUTHENTICATED", "Authenticate");
    },
  };
}

function readNewName(request: EndpointRequest) {
  return readParameters(readForm(request), KEY_PARAMETERS, () => "PARAMETER_INVALID");
}
