// attw compares the names that a module finds with the types.
export * from "express-push-verification";
export * from "express-push-verification/admin";
export * from "express-push-verification/durable";
export * from "express-push-verification/emulator";
export * from "express-push-verification/testing";
