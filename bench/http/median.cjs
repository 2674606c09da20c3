"use strict";
/** The value in the middle, or at another share of the way. */
function median(values, share = 0.5) {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)];
}

module.exports = { median };
