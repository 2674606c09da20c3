/** How a page looks: light and wide, dark and narrow; for screenshots also the other two. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type * as axeCore from "axe-core";
import type { Page } from "playwright-core";

const WIDE = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };
const shotsFolder = process.env.PUSH_TEST_SHOTS;
const LOOKS = [
  ["light", "light", WIDE],
  ["phone-dark", "dark", PHONE],
  ["dark", "dark", WIDE],
  ["phone", "light", PHONE],
] as const;
const looks = shotsFolder === undefined ? LOOKS.slice(0, 2) : LOOKS;

/** A text that fades in has too little contrast meanwhile. Some animations have no end. */
const FINISH_ANIMATIONS = `Promise.allSettled(
  document
    .getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
    .map(({ finished }) => finished),
)`;

/** The rules of axe-core whose result depends on colours, or on elements that a narrow window hides. */
const RULES_OF_LOOKS =
  "button-name color-contrast label link-in-text-block link-name scrollable-region-focusable";

const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Expects no violation of axe-core and no overflow; takes screenshots with PUSH_TEST_SHOTS. */
export async function expectGoodLooks(page: Page, name: string): Promise<void> {
  const found: Record<string, unknown> = {};
  for (const [look, colorScheme, viewport] of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    await page.evaluate(FINISH_ANIMATIONS);
    if (shotsFolder !== undefined) {
      const path = join(shotsFolder, `${name}-${look}.png`);
      await page.screenshot({ path, fullPage: true, animations: "disabled" });
    }
    const rules = look === LOOKS[0][0] ? undefined : RULES_OF_LOOKS.split(" ");
    const violations = await findViolations(page, rules);
    const width = await page.evaluate("document.documentElement.scrollWidth");
    if (violations.length > 0 || width !== viewport.width) found[look] = { violations, width };
  }
  expect(found).toEqual({});
}

/** Returns the violations of all rules of axe-core, or of some, as `rule: element`. */
async function findViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Evaluated, because the policy of the page forbids a script element.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axeSource);
  return page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: typeof axeCore };
    const { violations } = await axe.run({
      resultTypes: ["violations"],
      ...(runOnly !== undefined && { runOnly: [...runOnly] }),
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  }, rules);
}
