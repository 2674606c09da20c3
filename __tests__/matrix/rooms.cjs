module.exports = {
  ...require("express-push-verification"),
  ...require("express-push-verification/admin"),
  ...require("express-push-verification/durable"),
  ...require("express-push-verification/emulator"),
  ...require("express-push-verification/testing"),
};
