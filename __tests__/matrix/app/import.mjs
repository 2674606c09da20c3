import { closeUnused } from "./postgres.cjs";
import { tellStory } from "./story.cjs";

const [, , folder] = process.argv;
const rooms = await import(`./${folder}/rooms.mjs`);
await tellStory(rooms);
await closeUnused(rooms);
process.stdout.write("told\n");
