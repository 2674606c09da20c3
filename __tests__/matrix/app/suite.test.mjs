import * as rooms from "./express/rooms.mjs";
import { tellStory } from "./story.cjs";

test("an app works in Jest as a module", () => tellStory(rooms));
