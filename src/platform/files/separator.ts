import Papa from 'papaparse';

const SEPARATORS = [',', ';', '\t', '|'] as const;

export type Separator = (typeof SEPARATORS)[number];

/** The line that Excel reads to know the separator: `sep=;`. Programs that save it again add empty cells. */
const SEPARATOR_LINE = /^"?sep=([,;|\t])"?[,;|\t ]*$/i;

/** Returns the separator that the first line of a file names, if it does. */
export const separatorInLine = (line: string): Separator | undefined =>
  SEPARATORS.find((separator) => separator === SEPARATOR_LINE.exec(line)?.[1]);

/** The header must be one of this many rows. */
export const HEADER_ROWS = 20;

/**
 * Returns the separator of a file: the one that its first line names, else the one with which most known column names are found in one
 * row, else the one that splits most rows into enough cells. Papa's own guess does not know the names.
 */
export function separatorOf(
  text: string,
  { countNames, minCells }: { countNames(cells: string[]): number; minCells: number },
): Separator {
  const [firstLine = ''] = text.split('\n', 1);
  const named = separatorInLine(firstLine);
  if (named) return named;
  const scored = SEPARATORS.map((separator) => {
    const { data } = Papa.parse<string[]>(text, {
      delimiter: separator,
      newline: '\n',
      preview: HEADER_ROWS,
    });
    const names = Math.max(0, ...data.map(countNames));
    return { separator, names, rows: data.filter((cells) => cells.length >= minCells).length };
  });
  // The comma is first and wins a tie, because sorting keeps the order of equals.
  const [best] = scored.sort((a, b) => b.names - a.names || b.rows - a.rows);
  return best?.separator ?? ',';
}
