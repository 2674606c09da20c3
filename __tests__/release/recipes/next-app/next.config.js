// The packages are links to those of the repository.
module.exports = { turbopack: { root: require("node:path").join(__dirname, "../../../..") } };
