export * from "./sqlite";
export * from "./postgres";
export * from "./redis";
