// The packages are links to those of the repository, whose settings jsconfig.json keeps away.
module.exports = { turbopack: { root: require("node:path").join(__dirname, "../../../..") } };
