import Koa from "koa";
import { pushWebhooks } from "express-push-verification";

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
push.on("challenge.approved", (event) => console.log(event.challenge_sid));

const app = new Koa();
app.use((context, next) => {
  if (context.path !== "/webhooks/push") return next();
  context.respond = false;
  return push(context.req, context.res);
});

const server = app.listen(process.env.PORT ?? 3000);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"]) {
  process.once(signal, () => {
    server.close();
    void push.close();
  });
}
