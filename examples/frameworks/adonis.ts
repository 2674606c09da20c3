// app/controllers/push_controller.ts; in start/routes.ts:
// router.any("/webhooks/push", [PushController, "receive"])
import type { HttpContext } from "@adonisjs/core/http";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
push.on("challenge.approved", (event) => console.log(event.challenge_sid));

export default class PushController {
  async receive({ request, response }: HttpContext) {
    const rawBody = request.raw() ?? undefined;
    await push(Object.assign(request.request, { rawBody }), response.response);
  }
}
