import type { SourceMutant } from '../mutant.js';

/** Guards of texts, parameters and files that callers send, and of files that they download. */
export const INPUTS: readonly SourceMutant[] = [
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
    find: 'if (isUploaded) await assertTimeLeft',
    replace: 'if (!isUploaded) await assertTimeLeft',
    tests: [
      {
        file: 'test/modules/couriers/logos/logo-limits.test.ts',
        titles: ['drawing the logos of a courier has a limit of time, and those that are refused count'],
      },
    ],
  },
  {
    name: 'bills: long codes are cut',
    file: 'src/modules/bills/documents/pdf/printable.ts',
    find: 'if (lines.length <= maxLines) return lines;',
    replace: 'return lines;',
    tests: [
      {
        file: 'test/modules/bills/documents/bill-pdf-drawing.test.ts',
        titles: ['codes and numbers that the font does not have take a few lines each'],
      },
    ],
  },
];
