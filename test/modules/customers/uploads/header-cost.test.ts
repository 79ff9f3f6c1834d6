import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readUpload as readCustomers } from '../../../../src/modules/customers/upload/upload-rows.js';
import { readUpload as readPrealerts } from '../../../../src/modules/prealerts/upload/upload-rows.js';
import { makeWorkbookReader } from '../../../../src/platform/files/workbook/read-workbook.js';
import { WIDE_TITLES, wideCsv, wideWorkbook } from '../../../support/attacks/worst-forms.js';
import { longestBlockMs } from '../../../support/harness/event-loop-block.js';

// The header is searched in the first twenty rows. Their cells are normalised, which makes 18 characters of U+FDFA.

const LIMIT_MS = 30;
/** On a busy machine the same work takes more time of the processor, but not each time. */
const TIMES = 10;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headers-'));
});

afterAll(() => rm(folder, { recursive: true }));

const read = makeWorkbookReader();
const owner = { tenantId: 'tenant', courierId: 'courier' };
const closed = new AbortController().signal;

describe.each([
  ['uploadCustomers', readCustomers],
  ['uploadPrealerts', readPrealerts],
])('%s', (_operation, readUpload) => {
  test.each(
    WIDE_TITLES.flatMap(([name, cell]): [string, Buffer][] => [
      [`${name}, as CSV`, wideCsv(cell)],
      [`${name}, as a workbook`, wideWorkbook(cell)],
    ]),
  )('rows of %s block the event loop for less than 30 ms', async (_name, content) => {
    const path = join(folder, 'wide');
    await writeFile(path, content);
    const file = { path, name: '', sizeBytes: content.length, closed };
    // Without a known column, each of the first rows is searched. Pre-alerts are then refused.
    const upload = () => readUpload({ path, readWorkbook: () => read(owner, file) }).catch(() => undefined);
    await longestBlockMs(upload);
    const blocks: number[] = [];
    // The garbage collector of a process that has run many test files may hold any.
    while (blocks.length < TIMES && !blocks.some((ms) => ms < LIMIT_MS))
      blocks.push(await longestBlockMs(upload));
    // 5 ms. With all first rows in one turn, up to 480 ms.
    expect(Math.min(...blocks)).toBeLessThan(LIMIT_MS);
  });
});

test('a name may have an accent and a space for each letter, and blanks around it', async () => {
  const path = join(folder, 'spaced.csv');
  const spaced = (name: string) =>
    `   ${[...name].map((letter) => `${letter}\u0301 `).join('')}${' '.repeat(90)}`;
  const names = ['numerodecasillero', 'primernombre', 'apellidos', 'pickuplocation'].map(spaced);
  await writeFile(path, `Title\n${names.join(',')}\nW-1,Ann,Lee,X\n`);
  const { file } = await readCustomers({
    path,
    readWorkbook: () => Promise.reject(new Error('A CSV file.')),
  });
  expect(file).toMatchObject({
    header_row: 2,
    columns: ['user_code', 'first_name', 'last_name', 'branch'].map((column) => ({ column })),
  });
});
