import * as fc from "fast-check";

const SURROGATES = 0x800;

/** Any character but a lone surrogate; the unit "binary" of fast-check lists them all for 2 s. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + SURROGATES));
