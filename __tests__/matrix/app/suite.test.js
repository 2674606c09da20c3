"use strict";
const rooms = require("./express/rooms.cjs");
const { tellStory } = require("./story.cjs");

test("an app works in Jest", () => tellStory(rooms));
