/**
 * The parts of zod that the admin client, the admin router, the emulator and the queues use. The
 * build bundles them into this file of the package: an app does not install zod for it.
 */
export {
  array,
  boolean,
  config,
  custom,
  discriminatedUnion,
  enum,
  int,
  iso,
  lazy,
  literal,
  looseObject,
  number,
  object,
  optional,
  preprocess,
  record,
  registry,
  safeParse,
  strictObject,
  string,
  toJSONSchema,
  tuple,
  union,
  unknown,
} from "zod";
export type { core, infer, output, ZodError, ZodInt, ZodType } from "zod";
