"use strict";
const { closeUnused } = require("./postgres.cjs");
const { tellStory } = require("./story.cjs");

const [, , folder] = process.argv;
const rooms = require(`./${folder}/rooms.cjs`);
void tellStory(rooms)
  .then(() => closeUnused(rooms))
  .then(() => process.stdout.write("told\n"));
