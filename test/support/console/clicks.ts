import type { Page } from 'playwright-core';

/** What a person does with the mouse to choose an entry of a list of choices, or a file: open it, and choose. */
const CHOICE = 2;

const COUNT = `(() => {
  const count = (clicks) => crossdockCount(clicks);
  // Enter in a form also makes a click, without a button of the mouse.
  addEventListener('click', ({ isTrusted, detail, target }) => {
    if (isTrusted && detail > 0 && !target.closest('select, input[type=file]')) count(1);
  }, true);
  addEventListener('change', ({ target }) => {
    if (target.matches('select, input[type=file]')) count(${CHOICE});
  }, true);
})()`;

/**
 * Counts the clicks of a person from now on. Typing is no click, and fields are reached with Tab; a choice of a list or of a file is two.
 *
 * @returns how many there were
 */
export async function countClicks(page: Page): Promise<() => number> {
  let clicks = 0;
  await page.exposeFunction('crossdockCount', (more: number) => (clicks += more));
  await page.addInitScript(COUNT);
  await page.evaluate(COUNT);
  return () => clicks;
}
