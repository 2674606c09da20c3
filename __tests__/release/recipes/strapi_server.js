// Koa with the body parser of Strapi, as its middleware strapi::body sets it.
const Koa = require("koa");
const { koaBody } = require("koa-body");
const { default: controller } = require("./strapi.js");

new Koa()
  .use(koaBody({ multipart: true, patchKoa: true, includeUnparsed: true }))
  .use((context) => context.path === "/webhooks/push" && controller.receive(context))
  .listen(process.env.PORT);
