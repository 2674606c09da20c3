/**
 * Prints where the files of the project break its own rules: imports between the
 * rooms, links, tables that must agree with the code, and scripts. Run it with `npm run check:house`.
 */
import { checkAnswers } from "./house/answers";
import { checkDocuments } from "./house/documents";
import { checkEqualValues } from "./house/equal-values";
import { checkLinks } from "./house/links";
import { checkRooms } from "./house/rooms";
import { checkScripts } from "./house/scripts";
import { checkTitles } from "./house/titles";

const findings = [
  ...checkRooms(),
  ...checkLinks(),
  ...checkDocuments(),
  ...checkAnswers(),
  ...checkScripts(),
  ...checkEqualValues(),
  ...checkTitles(),
];
for (const finding of findings) console.log(finding);
console.log(`The house has ${findings.length} findings.`);
process.exitCode = findings.length === 0 ? 0 : 1;
