import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import Papa from 'papaparse';
import { harmless } from '../../../src/platform/files/csv-cells.js';
import { writeCsv } from '../../../src/platform/files/csv.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { rounds } from '../../support/harness/effort.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { api, service } = withService();
beforeAll(async () => {
  parcels = makeParcels(service());
}, 60_000);
let parcels: ReturnType<typeof makeParcels>;

const SEPARATORS = [',', ';', '\t', '|'];
// A cell of a program that knows no quotes keeps them.
const QUOTES = ['"', '\u0001'];

/** Returns the cells that begin a formula for a program with any list separator. Numbers are allowed. */
function dangerousCells(csv: string): string[] {
  return SEPARATORS.flatMap((delimiter) =>
    QUOTES.flatMap((quoteChar) =>
      // A program that ends rows only with CR LF, and one that ends them with each line break.
      [csv, csv.replace(/\r\n?/g, '\n')].flatMap((text) =>
        Papa.parse<string[]>(text, { delimiter, quoteChar, newline: text === csv ? '\r\n' : '\n' })
          .data.flat()
          // Some readers drop two quotes, as an empty quoted part in front of the rest.
          .flatMap((cell) => [cell, ...(quoteChar === '"' ? [] : [cell.replace(/^""(?!")/, '')])])
          .filter((cell) => /^[=+\-@\t\r＝＋－＠]/.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell))
          .map((cell) => `${JSON.stringify(delimiter)} ${JSON.stringify(cell)}`),
      ),
    ),
  );
}

test('a name with a semicolon and a formula is text under every list separator', async () => {
  const attack = ";=cmd|'/C calc'!A0;x";
  const number = newNumber();
  await parcels.receive(number, { user_code: 'IEX-1001' });
  const [row] = await parcels.select('select id from packages where tracking_number = $1', [number]);
  const body = { package_id: row?.['id'], first_name: attack, last_name: 'a|-1+1', shipper: 'x\n@SUM(1)' };
  const refused = await api.as('iex').updatePackage(unchecked(body)).answer();
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ field: 'shipper', code: 'pattern' }] } });
  await api
    .as('iex')
    .updatePackage(unchecked({ ...body, shipper: 'x,+1;-2' }))
    .ok();
  const reply = await api.as('warehouse').exportPackagesCsv({ trackingNumber: number }).answer();
  const csv = reply.bytes.toString();
  expect(csv).toContain(";'=cmd|'/C calc'!A0;x");
  expect(dangerousCells(csv)).toEqual([]);
});

const FILES = rounds(2_000, 20_000);

test(`no cell of ${FILES} random files is a formula under any list separator, and numbers stay numbers`, async () => {
  const text = fc
    .array(
      fc.constantFrom(
        '=',
        '+',
        '-',
        '@',
        ';',
        ',',
        '\t',
        '|',
        '\n',
        '\r',
        '\r\n',
        '"',
        "'",
        ' ',
        '\u200b',
        'a',
        '1',
        '＝',
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(''));
  const row = fc.tuple(text, fc.integer({ min: -99, max: 99 }), text);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 3 }), async (rows) => {
      const csv = await writeCsv(['A', 'B', 'C'], rows, ([a, n, b]) => [harmless(a), n, harmless(b)]);
      expect(dangerousCells(csv.toString())).toEqual([]);
      const { data } = Papa.parse<string[]>(csv.toString().trimEnd(), { newline: '\r\n' });
      expect(data.slice(1).map((cells) => Number(cells[1]))).toEqual(rows.map(([, n]) => n));
    }),
    { numRuns: FILES },
  );
});

test('separators without a formula behind them change nothing', () => {
  for (const text of [
    'Shoes, size 9',
    'a;b',
    'Books | used',
    'line\r\nline',
    'a, b - c',
    'Smith; Jones',
    '10-12',
  ])
    expect(harmless(text)).toBe(text);
});

test('a long text of separators is checked in linear time', () => {
  const started = performance.now();
  harmless('; '.repeat(100_000));
  harmless(`;${' '.repeat(200_000)}x`);
  expect(performance.now() - started).toBeLessThan(1_000);
});
