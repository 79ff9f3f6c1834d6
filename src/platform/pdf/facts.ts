import { lineHeight, putLines, putText, STYLES, type Sheet } from './sheet.js';

/** A name, and its value; null if the document does not show it. */
export type Fact = readonly [name: string, value: string | null];

const NAME_WIDTH = 70;

/** Adds facts below each other. Returns the position of their end. */
export function putFacts(
  sheet: Sheet,
  facts: readonly Fact[],
  { x, y, right }: { x: number; y: number; right: number },
): number {
  let end = y;
  for (const [name, value] of facts) {
    if (value === null) continue;
    putText(sheet, name, { x, y: end }, STYLES.quiet);
    const area = { x: x + NAME_WIDTH, y: end, width: right - x - NAME_WIDTH };
    end = Math.max(putLines(sheet, value, area, STYLES.body), end + lineHeight(STYLES.body)) + 2.5;
  }
  return end;
}
