const sails = require("sails");
const { http } = require("./sails.js");

const hooks = { grunt: false, session: false, i18n: false, pubsub: false, sockets: false };
sails.lift({ port: process.env.PORT, http, hooks, log: { level: "error" } });
