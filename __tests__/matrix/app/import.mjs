import { tellStory } from "./story.cjs";

const [, , folder] = process.argv;
await tellStory(await import(`./${folder}/rooms.mjs`));
process.stdout.write("told\n");
