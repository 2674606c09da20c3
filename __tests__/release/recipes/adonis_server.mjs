// The HTTP server and the body parser of AdonisJS, with one route.
import { createServer } from "node:http";
import { AppFactory } from "@adonisjs/core/factories/app";
import { BodyParserMiddlewareFactory } from "@adonisjs/core/factories/bodyparser";
import { ServerFactory } from "@adonisjs/core/factories/http";
import controller from "./adonis.js";

const app = new AppFactory().create(new URL("./", import.meta.url));
await app.init();
const parser = new BodyParserMiddlewareFactory().create();
const server = new ServerFactory().merge({ app }).create();
server
  .getRouter()
  .any("/webhooks/push", (context) => new controller.default().receive(context))
  .use((context, next) => parser.handle(context, next));
await server.boot();
createServer(server.handle.bind(server)).listen(process.env.PORT);
