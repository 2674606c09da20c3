import * as z from "zod";
import type { QueueUser } from "../../durable";
import { sidSchema } from "../client/schemas";
import type { Route } from "../http/route";
import type { ConsoleQueue } from "./queue-view";

const input = z.strictObject({
  accountSid: sidSchema("AC"),
  entityIdentity: z.string().min(1).max(1_000),
});

/** Lists the routes on the data of a user. */
export function listUserRoutes(queue: ConsoleQueue): Route[] {
  return [
    {
      method: "post",
      path: "/console/user-data/count",
      input,
      run: (_req, user: QueueUser) => queue.countUserData(user),
    },
    {
      method: "post",
      path: "/console/user-data/erase",
      action: "user-data.erase",
      input,
      async run(_req, user: QueueUser, audited) {
        const erased = await queue.eraseUserData(user);
        audited.count = Object.values({ ...erased }).reduce((sum, count) => sum + count, 0);
        return erased;
      },
    },
  ];
}
