export * from "./sqlite/index";
export * from "./postgres/index";
export * from "./redis/index";
