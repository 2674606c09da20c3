module.exports = require("./google.js");
