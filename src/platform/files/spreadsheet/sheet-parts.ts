import type { Cell } from '../csv-cells.js';

// The two parts of a workbook that contain its cells (ECMA-376, part 1, 18.3 and 18.4). Our own, because the library
// builds an object per cell and takes four times the CPU time.

const NAMESPACE = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** The limit of spreadsheet programs, which repair or reject the whole file otherwise. */
const MAX_CELL_LENGTH = 32_767;

export type SheetParts = {
  append(lines: Cell[][]): void;
  finish(): { sheet: Buffer; sharedStrings: Buffer };
};

/**
 * Returns a writer for the XML of a sheet and of its shared strings. Every text becomes a text cell, every number a
 * number cell, and an empty text no cell.
 */
export function makeSheetParts(): SheetParts {
  const rows = [Buffer.from(`${XML}<worksheet xmlns="${NAMESPACE}"><sheetData>`)];
  const strings = [Buffer.from(`${XML}<sst xmlns="${NAMESPACE}">`)];
  const indexes = new Map<string, number>();
  let rowNumber = 0;

  return {
    append(lines) {
      let rowsXml = '';
      let stringsXml = '';
      const indexOf = (text: string) => {
        const known = indexes.get(text);
        if (known !== undefined) return known;
        stringsXml += `<si><t xml:space="preserve">${escape(text)}</t></si>`;
        indexes.set(text, indexes.size);
        return indexes.size - 1;
      };
      for (const line of lines) {
        rowNumber += 1;
        rowsXml += `<row r="${rowNumber}">`;
        for (const [column, cell] of line.entries()) {
          if (cell === '') continue;
          const place = `<c r="${nameOf(column)}${rowNumber}"`;
          rowsXml +=
            typeof cell === 'number'
              ? `${place}><v>${cell}</v></c>`
              : `${place} t="s"><v>${indexOf(cell)}</v></c>`;
        }
        rowsXml += '</row>';
      }
      rows.push(Buffer.from(rowsXml));
      strings.push(Buffer.from(stringsXml));
    },

    finish: () => ({
      sheet: Buffer.concat([...rows, Buffer.from('</sheetData></worksheet>')]),
      sharedStrings: Buffer.concat([...strings, Buffer.from('</sst>')]),
    }),
  };
}

/** Returns the name of one of the first 26 columns, from 0. */
const nameOf = (column: number) => String.fromCharCode('A'.charCodeAt(0) + column);

const MARKUP: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
// Checking this first takes a third of the time of the replacements.
const NEEDS_ESCAPE = /[&<>\p{Cc}\ufffe\uffff]|_x[0-9A-Fa-f]{4}_/u;
// An underscore that readers would take for the start of an escape must be escaped itself.
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;
// XML 1.0 allows neither these control characters nor the last two, which have no escape and make readers reject the file.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0b-\x1f]/g;
const NOT_IN_XML = /[\ufffe\uffff]/g;

function escape(text: string): string {
  if (text.length > MAX_CELL_LENGTH)
    throw new Error(`A cell of ${text.length} characters exceeds the limit of ${MAX_CELL_LENGTH}.`);
  if (!NEEDS_ESCAPE.test(text)) return text;
  return text
    .replace(NOT_IN_XML, '\ufffd')
    .replace(LOOKS_ESCAPED, '_x005F_')
    .replace(CONTROL, (character) => `_x${character.charCodeAt(0).toString(16).padStart(4, '0')}_`)
    .replace(/[&<>]/g, (character) => MARKUP[character] ?? '');
}
