import { join } from "node:path";
import { dependencies, peerDependencies } from "../../package.json";
import { PACKAGES } from "../../lib/durable/redis/options";

/** The folder of this repository. */
export const ROOT = join(__dirname, "..", "..");

/** The majors of Node that are supported. */
export const NODES = [20, 22, 24, 26];

/** The releases of TypeScript that are supported, without some in the middle. */
export const TYPESCRIPTS = ["5.4", "5.5", "5.9", "6.0", "7.0"];

/** The releases of PostgreSQL that the tests run against, as the npm packages of their binaries count. */
export const POSTGRESES = ["13.23.0-beta.16", "14.23.0-beta.17", "15.18.0-beta.17"].concat([
  "16.14.0-beta.17",
  "17.10.0-beta.17",
  "18.4.0-beta.17",
]);

/** An app that has installed the package. */
export interface App {
  name: string;
  /** Where its files are in `app/`. */
  folder: "express" | "bare";
  /** Packages that it has installed beside this one. */
  packages: string[];
  /** The oldest TypeScript that takes the types of Node it has installed. */
  minTypescript: number;
}

/** The apps: each range of package.json at its beginning, at its end, and no optional peer at all. */
export const APPS: App[] = [
  {
    name: "express 4",
    folder: "express",
    packages: [...listOldest(), "@types/express@4", "@types/node@20"],
    minTypescript: 5.4,
  },
  {
    name: "express 5",
    folder: "express",
    packages: [...listNewest(), "@types/express@5", "@types/node@20"],
    minTypescript: 5.4,
  },
  { name: "no express", folder: "bare", packages: ["@types/node"], minTypescript: 5.6 },
];

/** An app with packages of its own choice, installed by a package manager. */
export interface Neighbours {
  manager: "npm" | "pnpm" | "yarn";
  folder: App["folder"];
  packages: string[];
}

const MANAGERS = ["npm", "pnpm", "yarn"] as const;
/** Versions that apps have: an optional peer must not block the installation of the receiver. */
const NEIGHBOURS: [App["folder"], ...string[]][] = [
  ["express", "express@4", "bullmq@5", "ioredis@5", "pg@8"],
  ["express", "express@5", "bullmq@6", "ioredis@6", "pg@8"],
  ["bare", "express@4", "ioredis@4"],
];

/** Each package manager with each choice of packages. */
export const INSTALLS: Neighbours[] = MANAGERS.flatMap((manager) =>
  NEIGHBOURS.map(([folder, ...packages]) => ({ manager, folder, packages })),
);

function listOldest(): string[] {
  // An app may have older ones beside the receiver: redisQueue() names the version that it needs.
  const ranges = Object.entries({ ...dependencies, ...peerDependencies, ...PACKAGES });
  return ranges.map(([name, range]) => `${name}@${range.replace(/^(?:\^|>=)?(\S+).*/, "~$1")}`);
}

function listNewest(): string[] {
  return Object.entries(peerDependencies).map(([name, range]) => `${name}@${range}`);
}

/**
 * The ways in which a compiler finds the types of a package: copies of `typed.ts`, whose extensions
 * make them modules of other kinds, and its arguments. TypeScript 7 has no `node10` any more.
 */
export function listResolutions(
  typescript: number,
): [name: string, files: string[], args: string][] {
  const deprecated = typescript >= 6 ? " --ignoreDeprecations 6.0" : "";
  const node10 = `--module commonjs --moduleResolution node10${deprecated}`;
  return [
    ["nodenext", ["typed.cts", "typed.mts"], "--module nodenext"],
    ["bundler", ["typed.ts"], "--module esnext --moduleResolution bundler"],
    ...(typescript >= 7 ? [] : [["node10", ["typed.ts"], node10] as [string, string[], string]]),
  ];
}
