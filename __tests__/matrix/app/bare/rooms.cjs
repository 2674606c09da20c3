"use strict";
/** Exports for an app that has none of the optional peers. */
module.exports = {
  ...require("express-push-verification"),
  ...require("express-push-verification/admin"),
  ...require("express-push-verification/emulator"),
  ...require("express-push-verification/testing"),
};
