import { zipSync, type Zippable } from 'fflate';

/** A sheet by the XML inside `sheetData`. */
export type SheetXml = { name?: string; state?: string; data: string };

type Options = {
  sheets: SheetXml[];
  /** The texts of the shared table, as XML inside `si`. */
  shared?: string[];
  /** Number formats by the index of the cell style. */
  formats?: string[];
  is1904?: boolean;
  /** Parts that replace those of this function, or are added. Undefined leaves one out. */
  parts?: Record<string, string | Uint8Array | undefined>;
  level?: 0 | 1 | 6 | 9;
};

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const DOC = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PKG = 'http://schemas.openxmlformats.org/package/2006/relationships';
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

export const escapeXml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');

/** Builds a workbook as spreadsheet programs write it, part by part, so that tests can also build those of other shapes. */
export function workbookOf({ sheets, shared, formats, is1904, parts = {}, level = 6 }: Options): Buffer {
  const ids = sheets.map((_, n) => n + 1);
  const tabs = sheets.map(
    ({ name, state }, n) =>
      `<sheet name="${escapeXml(name ?? `Sheet${n + 1}`)}" sheetId="${n + 1}"${state ? ` state="${state}"` : ''} r:id="rId${n + 1}"/>`,
  );
  const relations = [
    ...ids.map((n) => relation(`rId${n}`, `${DOC}/worksheet`, `worksheets/sheet${n}.xml`)),
    relation('rId900', `${DOC}/styles`, 'styles.xml'),
    ...(shared ? [relation('rId901', `${DOC}/sharedStrings`, 'sharedStrings.xml')] : []),
  ];
  const files: Record<string, string | Uint8Array | undefined> = {
    '[Content_Types].xml': `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    '_rels/.rels': `${HEAD}<Relationships xmlns="${PKG}">${relation('rId1', `${DOC}/officeDocument`, 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${DOC}"><workbookPr${is1904 ? ' date1904="1"' : ''}/><sheets>${tabs.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${HEAD}<Relationships xmlns="${PKG}">${relations.join('')}</Relationships>`,
    'xl/styles.xml': stylesOf(formats ?? []),
    ...(shared
      ? {
          'xl/sharedStrings.xml': `${HEAD}<sst xmlns="${MAIN}">${shared.map((si) => `<si>${si}</si>`).join('')}</sst>`,
        }
      : {}),
    ...Object.fromEntries(
      sheets.map(({ data }, n) => [
        `xl/worksheets/sheet${n + 1}.xml`,
        `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>${data}</sheetData></worksheet>`,
      ]),
    ),
    ...parts,
  };
  const written: Zippable = {};
  for (const [path, content] of Object.entries(files))
    if (content !== undefined)
      written[path] = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return Buffer.from(zipSync(written, { level }));
}

const relation = (id: string, type: string, target: string): string =>
  `<Relationship Id="${id}" Type="${type}" Target="${target}"/>`;

function stylesOf(formats: string[]): string {
  const own = formats.map((code, n) => `<numFmt numFmtId="${200 + n}" formatCode="${escapeXml(code)}"/>`);
  const styles = formats.map((_, n) => `<xf numFmtId="${200 + n}"/>`);
  return `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts>${own.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${styles.join('')}</cellXfs></styleSheet>`;
}

/** Returns AB for 27. */
export function lettersOf(column: number): string {
  let letters = '';
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return letters;
}

/** Rows of texts as XML inside `sheetData`, in the shape of programs without a shared table. Blank cells are left out. */
export const inlineRows = (rows: string[][]): string =>
  rows
    .map((cells, row) => {
      const written = cells.map((text, column) =>
        text === ''
          ? ''
          : `<c r="${lettersOf(column)}${row + 1}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`,
      );
      return `<row r="${row + 1}">${written.join('')}</row>`;
    })
    .join('');

/** A workbook with one sheet of texts. */
export const textWorkbook = (rows: string[][]): Buffer =>
  workbookOf({ sheets: [{ name: 'Sheet1', data: inlineRows(rows) }] });
