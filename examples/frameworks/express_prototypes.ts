import { createServer, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import express from "express";
import { pushWebhooks } from "express-push-verification";

/** Creates a server whose requests and responses have the prototypes of an Express app. */
function createAppServer(app: express.Express) {
  function AppRequest(this: IncomingMessage, socket: Socket) {
    Reflect.apply(IncomingMessage, this, [socket]);
  }
  function AppResponse(this: ServerResponse, ...args: unknown[]) {
    Reflect.apply(ServerResponse, this, args);
  }
  AppRequest.prototype = app.request;
  AppResponse.prototype = app.response;
  const classes = { IncomingMessage: AppRequest, ServerResponse: AppResponse };
  return createServer(classes as object, app);
}

const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
});
const app = express().use("/webhooks/push", push);
const server = createAppServer(app);
server.listen(process.env.PORT ?? 3000);
