import { feathers } from "@feathersjs/feathers";
import { bodyParser, errorHandler, koa, rest } from "@feathersjs/koa";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
push.on("challenge.approved", (event) => console.log(event.challenge_sid));

const app = koa(feathers());
app.use((context, next) => {
  if (context.path !== "/webhooks/push") return next();
  context.respond = false;
  return push(context.req, context.res);
});
app.use(errorHandler());
app.use(bodyParser());
app.configure(rest());

void app.listen(Number(process.env.PORT ?? 3000));
process.once("SIGTERM", () => {
  app.server.close();
  void push.close();
});
