// Numbers that a damaged label may have had. Without the DOM.

/** A part of a shorter number is in too many others. */
const SHORTEST = 10;
const WRONG_CHARACTERS = 2;
const SHOWN = 3;

/** Returns the halves of a number that is long enough to be looked for by its parts, otherwise nothing. */
export function partsOf(scan: string): string[] {
  const number = scan.trim();
  if (number.length < SHORTEST || /[^0-9a-z]/i.test(number)) return [];
  const middle = Math.floor(number.length / 2);
  return [number.slice(0, middle), number.slice(middle)];
}

/** Returns the records whose number differs from the scanned one in a character or two, the nearest first. */
export function nearNumbers<Row extends { tracking_number: string }>(scan: string, rows: Row[]): Row[] {
  const near = rows
    .map((row) => ({ row, wrong: differences(scan.trim().toUpperCase(), row.tracking_number.toUpperCase()) }))
    .filter(({ wrong }) => wrong > 0 && wrong <= WRONG_CHARACTERS)
    .sort((a, b) => a.wrong - b.wrong);
  const unique = new Map(near.map(({ row }) => [row.tracking_number, row]));
  return [...unique.values()].slice(0, SHOWN);
}

const differences = (a: string, b: string): number =>
  a.length === b.length ? [...a].filter((character, index) => character !== b[index]).length : Infinity;
