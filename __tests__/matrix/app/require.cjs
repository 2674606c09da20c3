"use strict";
const { tellStory } = require("./story.cjs");

const [, , folder] = process.argv;
void tellStory(require(`./${folder}/rooms.cjs`)).then(() => process.stdout.write("told\n"));
