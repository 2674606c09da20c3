// Google Cloud Functions load the file of this name.
module.exports = require("./google.js");
