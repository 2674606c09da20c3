"use strict";

const { relative } = require("node:path");
const { default: Sequencer } = require("@jest/test-sequencer");

/** Files that take longest, mostly in processes of their own: begun last, one would run alone. */
const FIRST = [
  "durable/sqlite.test.ts",
  "admin/console/states.test.ts",
  "examples.test.ts",
  "durable/redis/contract.test.ts",
  "durable/postgres/contract.test.ts",
  "readme.test.ts",
  "durable/simulation.test.ts",
];

/** The order of Jest, which knows how long a file took before, after the files above. */
module.exports = class FirstTheLongest extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = FIRST.indexOf(relative(`${__dirname}/..`, path).replaceAll("\\", "/"));
      return index === -1 ? FIRST.length : index;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of Jest
    return super.sort(tests).toSorted((a, b) => rank(a) - rank(b));
  }
};
