"use strict";

const { relative } = require("node:path");
const { default: Sequencer } = require("@jest/test-sequencer");

/** Files that take longest, mostly in processes of their own: begun last, one would run alone. */
const LONGEST =
  /^durable\/(sqlite(-suites)?|\w+\/(suites|simulation|availability))\.test|^(release|durable\/setups)\//;
/** Others that start servers or browsers, or wait. */
const LONG = /^(durable|admin\/(console|rehearsal|client\/confirm-answers)|examples)\b/;

/** The order of Jest, which knows how long a file took before, after the files above. */
module.exports = class FirstTheLongest extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const file = relative(`${__dirname}/..`, path).replaceAll("\\", "/");
      return LONGEST.test(file) ? 0 : LONG.test(file) ? 1 : 2;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of Jest
    return super.sort(tests).toSorted((a, b) => rank(a) - rank(b));
  }
};
