// The server of Nuxt, with one route.
const { createServer } = require("node:http");
const { createApp, createRouter, toNodeListener } = require("h3");
const { default: route } = require("./nuxt.js");

const router = createRouter().use("/webhooks/push", route);
createServer(toNodeListener(createApp().use(router))).listen(process.env.PORT);
