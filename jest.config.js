"use strict";

/** @type {import("jest").Config} */
module.exports = {
  testEnvironment: "node",
  testMatch: ["<rootDir>/__tests__/**/*.test.ts"],
  modulePathIgnorePatterns: ["<rootDir>/coverage", "<rootDir>/dist"],
  moduleNameMapper: {
    "^express-push-verification$": "<rootDir>/lib/index.ts",
    "^express-push-verification/(.*)$": "<rootDir>/lib/$1/index.ts",
  },
  globalSetup: "<rootDir>/__tests__/support/find-redis.js",
  transform: {
    "\\.ts$": [
      "@swc/jest",
      {
        jsc: { target: "es2023", parser: { syntax: "typescript" } },
        module: { type: "commonjs" },
        sourceMaps: "inline",
      },
    ],
  },
  coverageProvider: "v8",
  collectCoverageFrom: ["lib/**/*.ts"],
  reporters: ["default", "<rootDir>/__tests__/support/closing-line.js"],
};
