const { tellStory } = require("./story.cjs");

test("an app works in Jest, CommonJS", () => tellStory(require("./rooms.cjs")));
test("an app works in Jest, ES modules", async () => tellStory(await import("./rooms.mjs")));
