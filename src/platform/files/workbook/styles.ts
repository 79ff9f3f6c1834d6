import type { Archive } from './archive.js';
import { MAX_STYLES } from './bounds.js';
import { tooLarge } from './problem.js';
import { readXml } from './xml.js';

/** The formats that have a number instead of a text (ECMA-376, part 1, 18.8.30). Those of dates have any of their texts. */
const BUILT_IN: Record<number, string> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'm/d/yyyy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yyyy h:mm',
  37: '#,##0;(#,##0)',
  38: '#,##0;(#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;(#,##0.00)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
};

/** Formats of dates in East Asian languages. */
const isEastAsianDate = (id: number): boolean => (id >= 27 && id <= 36) || (id >= 50 && id <= 58);

const builtIn = (id: number): string | undefined => (isEastAsianDate(id) ? 'm/d/yyyy' : BUILT_IN[id]);

/** Returns the number format of each cell style; undefined for "General" and for texts. @throws WorkbookError for too many */
export async function readStyles(archive: Archive, path: string): Promise<(string | undefined)[]> {
  const own = new Map<number, string>();
  const ids: number[] = [];
  let isInStyles = false;
  await readXml(archive, path, {
    open({ name, value }) {
      if (name === 'numFmt') own.set(Number(value('numFmtId')), value('formatCode') ?? '');
      if (name === 'cellXfs') isInStyles = true;
      if (name === 'xf' && isInStyles) ids.push(Number(value('numFmtId') ?? 0));
      if (own.size > MAX_STYLES || ids.length > MAX_STYLES) throw tooLarge('styles');
    },
    close(name) {
      if (name === 'cellXfs') isInStyles = false;
    },
  });
  return ids.map((id) => own.get(id) ?? builtIn(id));
}
