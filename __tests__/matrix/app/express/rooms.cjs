"use strict";
/** All that the package exports, in an app with Express and every optional peer. */
module.exports = {
  express: require("express"),
  ...require("express-push-verification"),
  ...require("express-push-verification/admin"),
  ...require("express-push-verification/durable"),
  ...require("express-push-verification/emulator"),
  ...require("express-push-verification/testing"),
};
