// A controller, such as src/api/push/controllers/push.ts; in config/middlewares.ts:
// { name: "strapi::body", config: { includeUnparsed: true } }
import type { Context } from "koa";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
push.on("challenge.approved", (event) => console.log(event.challenge_sid));

const UNPARSED = Symbol.for("unparsedBody");

export default {
  async receive(context: Context) {
    const { body } = context.request as { body?: { [UNPARSED]?: string } };
    context.respond = false;
    await push(Object.assign(context.req, { rawBody: body?.[UNPARSED] }), context.res);
  },
};
