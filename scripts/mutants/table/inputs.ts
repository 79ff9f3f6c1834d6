import type { SourceMutant } from '../mutant.js';

const WORKBOOKS = 'src/platform/files/workbook';
const REFUSED_WORKBOOKS = 'test/modules/customers/workbooks/refused-workbooks.test.ts';
const HOSTILE_WORKBOOKS = 'test/modules/customers/workbooks/hostile-workbooks.test.ts';
const LONG_CELLS = 'test/modules/customers/workbooks/long-cells.test.ts';
const CLAIM_DOCUMENTS = 'test/modules/claims/claim-documents.test.ts';
const WORKBOOK_SHAPES = 'test/modules/customers/workbooks/workbook-shapes.test.ts';

/** Guards of texts, parameters and files that callers send, and of files that they download. */
export const INPUTS: readonly SourceMutant[] = [
  {
    name: 'processes of tasks: they get no secrets of the service',
    file: 'src/platform/concurrency/task-process.ts',
    find: 'env: {},',
    replace: '',
    tests: [
      {
        file: 'test/resilience/tasks/task-process.test.ts',
        titles: ['neither the environment nor the flags of the service'],
      },
    ],
  },
  {
    name: 'processes of tasks: one ends when nobody needs it',
    file: 'src/platform/concurrency/task-process.ts',
    find: "child.kill('SIGKILL');",
    replace: '',
    tests: [
      {
        file: 'test/resilience/tasks/task-process.test.ts',
        titles: ['has a process of its own, which ends with it'],
      },
    ],
  },
  {
    name: 'texts: control characters are refused',
    file: 'src/platform/values/text-rules.ts',
    find: '  if (!found) return undefined;',
    replace: '  return undefined;',
    tests: [{ file: 'test/contract/requests/text-rules.test.ts', titles: ['refuses '] }],
  },
  {
    name: 'texts: codes lose invisible characters',
    file: 'src/platform/values/text-rules.ts',
    find: '  if (!isPlain && isCompact) text = removeInvisible(text).trim();',
    replace: '',
    tests: [
      {
        file: 'test/contract/requests/text-rules.test.ts',
        titles: ['a customer is one customer, however the code is sent'],
      },
    ],
  },
  {
    name: 'texts: numbers that a spreadsheet has damaged are refused',
    file: 'src/platform/values/damaged-numbers.ts',
    find: "  if (SCIENTIFIC.test(text)) return 'number_shortened';",
    replace: '',
    tests: [
      {
        file: 'test/contract/requests/text-rules.test.ts',
        titles: ['is refused as a number and as a code, in JSON and in files'],
      },
    ],
  },
  {
    name: 'texts: damaged numbers among words are refused',
    file: 'src/platform/values/damaged-numbers.ts',
    find: "  if (SCIENTIFIC_INSIDE.test(text)) return 'number_shortened';",
    replace: '',
    tests: [
      {
        file: 'test/modules/prealerts/upload-prealerts.test.ts',
        titles: ['numbers that a spreadsheet has damaged are refused with the row and the cure'],
      },
    ],
  },
  {
    name: 'uploads: a row with a code and a full name is not skipped',
    file: 'src/platform/files/header.ts',
    find: 'minCells: named ? minCellsOf(columns, positions, minCells) : minCells,',
    replace: 'minCells,',
    tests: [
      {
        file: 'test/modules/customers/uploads/upload-headers.test.ts',
        titles: ['name,code,email'],
      },
    ],
  },
  {
    name: 'queries: unknown parameters are refused',
    file: 'src/platform/http/bodies/unknown-parameters.ts',
    find: '  if (unknown.length === 0) return;',
    replace: '  if (unknown.length >= 0) return;',
    tests: [
      {
        file: 'test/contract/requests/unknown-parameters.test.ts',
        titles: ['refuses an unknown query parameter and names the known ones'],
      },
    ],
  },
  {
    name: 'uploads: one number for two customers is an error',
    file: 'src/modules/prealerts/upload/upload-rows.ts',
    find: '  if (earlier && earlier.userCode !== row.userCode) {',
    replace: '  if (earlier && earlier.userCode === undefined) {',
    tests: [
      {
        file: 'test/modules/prealerts/upload-prealerts.test.ts',
        titles: ['one number for two customers is an error that names both rows'],
      },
    ],
  },
  {
    name: 'uploads: a text in another code page is not read as Windows-1252',
    file: 'src/platform/files/decode-csv.ts',
    find: "isValid(path, 'windows-1252', looksLikeWindows1252)",
    replace: "isValid(path, 'windows-1252')",
    tests: [
      {
        file: 'test/modules/customers/uploads/refused-spreadsheets.test.ts',
        titles: ['Excel for Mac, CSV in Mac Roman', 'Excel for Windows, CSV MS-DOS'],
      },
    ],
  },
  {
    name: 'exports: a formula behind a separator inside a cell is text',
    file: 'src/platform/files/csv-cells.ts',
    find: 'SEPARATOR.test(text) ? text.replace(INNER_FORMULA, "$&\'") : text',
    replace: 'text',
    tests: [
      {
        file: 'test/modules/packages/csv-injection.test.ts',
        titles: ['a name with a semicolon and a formula is text under every list separator'],
      },
    ],
  },
  {
    name: 'workbooks: a checksum that is wrong',
    file: `${WORKBOOKS}/archive.ts`,
    find: 'if (sum !== entry.crc32) throw damaged();',
    replace: '',
    tests: [{ file: REFUSED_WORKBOOKS, titles: ['a checksum that is wrong'] }],
  },
  {
    name: 'workbooks: a part twice',
    file: `${WORKBOOKS}/archive.ts`,
    find: 'if (parts.has(name)) throw damaged();',
    replace: '',
    tests: [{ file: REFUSED_WORKBOOKS, titles: ['a part twice'] }],
  },
  {
    name: 'workbooks: the budget of expanded bytes',
    file: `${WORKBOOKS}/archive.ts`,
    find: 'budget.bytes -= bytes.length;',
    replace: '',
    tests: [{ file: REFUSED_WORKBOOKS, titles: ['more than 100 MiB in several parts'] }],
  },
  {
    name: 'workbooks: cells of a sheet',
    file: `${WORKBOOKS}/workbook-csv.ts`,
    find: "if (size.cells > MAX_CELLS) throw tooLarge('cells');",
    replace: '',
    tests: [{ file: REFUSED_WORKBOOKS, titles: ['more than 1,000,000 cells'] }],
  },
  {
    name: 'workbooks: text of a sheet',
    file: `${WORKBOOKS}/workbook-csv.ts`,
    find: "if (size.bytes > MAX_TEXT_BYTES) throw tooLarge('text');",
    replace: '',
    tests: [
      { file: REFUSED_WORKBOOKS, titles: ['more than 10 MiB of text, although the text is stored once'] },
    ],
  },
  {
    name: 'workbooks: cell formats',
    file: `${WORKBOOKS}/styles.ts`,
    find: "if (own.size > MAX_STYLES || ids.length > MAX_STYLES) throw tooLarge('styles');",
    replace: '',
    tests: [{ file: HOSTILE_WORKBOOKS, titles: ['of which 65,490 are allowed'] }],
  },
  {
    name: 'workbooks: number formats of cells',
    file: `${WORKBOOKS}/cell-text.ts`,
    find: "if (read.size === MAX_FORMATS) throw tooLarge('formats');",
    replace: '',
    tests: [{ file: HOSTILE_WORKBOOKS, titles: ['cells may have 1,000 number formats'] }],
  },
  {
    name: 'workbooks: sheets',
    file: `${WORKBOOKS}/parts.ts`,
    find: "if (listed.length === MAX_SHEETS) throw tooLarge('sheets');",
    replace: '',
    tests: [{ file: HOSTILE_WORKBOOKS, titles: ['a workbook may have 1,000 sheets'] }],
  },
  {
    name: 'workbooks: the time of a courier per hour',
    file: `${WORKBOOKS}/read-workbook.ts`,
    find: 'await budget.assertLeft(key);',
    replace: '',
    tests: [
      {
        file: 'test/modules/customers/workbooks/workbook-budget.test.ts',
        titles: ['reading the workbooks of a courier has a limit of time per hour'],
      },
    ],
  },
  {
    name: 'workbooks: the text of a cell',
    file: `${WORKBOOKS}/texts.ts`,
    find: "if (text.length > MAX_CELL_CHARS) throw tooLarge('cellText');",
    replace: '',
    tests: [{ file: LONG_CELLS, titles: ['characters is refused'] }],
  },
  {
    name: 'workbooks: a format that repeats a text',
    file: `${WORKBOOKS}/cell-text.ts`,
    find: "if (text.length * repeats > MAX_CELL_CHARS) throw tooLarge('cellText');",
    replace: '',
    tests: [{ file: LONG_CELLS, titles: ['makes too long is refused before it is written'] }],
  },
  {
    name: 'workbooks: what is between two tags',
    file: `${WORKBOOKS}/xml.ts`,
    find: "if (sinceTag > MAX_CHARS_BETWEEN_TAGS) throw tooLarge('cellText');",
    replace: '',
    tests: [{ file: LONG_CELLS, titles: ['an attribute'] }],
  },
  {
    name: 'workbooks: relations',
    file: `${WORKBOOKS}/parts.ts`,
    find: "if (relations.size === MAX_PARTS) throw tooLarge('parts');",
    replace: '',
    tests: [{ file: LONG_CELLS, titles: ['a workbook has no more relations than files inside'] }],
  },
  {
    name: 'workbooks: half of a surrogate pair',
    file: `${WORKBOOKS}/sheet-rows.ts`,
    find: 'if (!written.text.isWellFormed())',
    replace: 'if (written.text.length < 0)',
    tests: [
      {
        file: 'test/modules/customers/workbooks/half-characters.test.ts',
        titles: ['with half of a character is refused with the cell'],
      },
    ],
  },
  {
    name: 'workbooks: digits that a spreadsheet has lost',
    file: `${WORKBOOKS}/cell-text.ts`,
    find: 'if (Math.abs(value) >= LOST_DIGITS)',
    replace: 'if (Math.abs(value) >= 1e30)',
    tests: [
      {
        file: WORKBOOK_SHAPES,
        titles: ['in the column of a code, with the row'],
      },
    ],
  },
  {
    name: 'workbooks: dates as codes',
    file: 'src/platform/files/uploads/sheet-cells.ts',
    find: 'if (dates.length === 0) return [];',
    replace: 'if (dates.length >= 0) return [];',
    tests: [{ file: WORKBOOK_SHAPES, titles: ['in the column of a code, with the row'] }],
  },
  {
    name: 'workbooks: blank cells at the end of a row',
    file: 'src/platform/files/uploads/sheet-cells.ts',
    find: 'return missing > 0 && !row.problem',
    replace: 'return missing > 1_000',
    tests: [
      {
        file: WORKBOOK_SHAPES,
        titles: ['counts rows as the spreadsheet does, also behind rows that are left out'],
      },
    ],
  },
  {
    name: 'logos: the memory of a drawing has a limit',
    file: 'src/modules/couriers/logo/renderer.ts',
    find: 'limitMemory(readFileSync(wasm), maxMemoryMib)',
    replace: 'readFileSync(wasm)',
    tests: [
      {
        file: 'test/modules/couriers/logos/logo-limits.test.ts',
        titles: ['an SVG of many embedded pictures or masks takes little memory, and is refused'],
      },
    ],
  },
  {
    name: 'logos: the time of refused drawings counts',
    file: 'src/modules/couriers/logo/logo-drawer.ts',
    find: 'if (isUploaded) await budget.assertLeft',
    replace: 'if (!isUploaded) await budget.assertLeft',
    tests: [
      {
        file: 'test/modules/couriers/logos/logo-limits.test.ts',
        titles: ['drawing the logos of a courier has a limit of time, and those that are refused count'],
      },
    ],
  },
  {
    name: 'bills: long codes are cut',
    file: 'src/platform/pdf/printable.ts',
    find: 'if (lines.length <= maxLines) return lines;',
    replace: 'return lines;',
    tests: [
      {
        file: 'test/modules/bills/documents/bill-pdf-drawing.test.ts',
        titles: ['codes and numbers that the font does not have take a few lines each'],
      },
    ],
  },
  {
    name: 'claims: a decided claim takes no document',
    file: 'src/modules/claims/documents/documents.ts',
    find: "    if (claim.status !== 'open')\n      throw new ApiError('parcel_claim_decided', { args: { status: claim.status } });\n",
    replace: '',
    tests: [{ file: CLAIM_DOCUMENTS, titles: ['if the claim is decided'] }],
  },
  {
    name: 'claims: a picture loses its metadata',
    file: 'src/modules/claims/documents/document-kind.ts',
    find: 'content: picture.content',
    replace: 'content: bytes',
    tests: [{ file: CLAIM_DOCUMENTS, titles: ['is stored without the place where it was taken'] }],
  },
];
