import { expect, test } from '@jest/globals';
import { newNumber } from '../../../support/builders/parcels.js';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

// Codes that a spreadsheet seems to have changed, but that may be right, have a warning. They are not refused.

const { api } = withService();

const HEADER = 'user_code,first_name,last_name';
const upload = (file: string | Buffer) =>
  api.as('iex').uploadCustomers(multipart({ file: { file }, dry_run: 'true' }));
const uploadCodes = (codes: string[]) =>
  upload([HEADER, ...codes.map((code) => `"${code}",Ann,Lee`), ''].join('\n'));

const LIKE_DATES = [
  'Jan-03',
  '03. Jan',
  '3. Jan.',
  '03-ene-26',
  '3-Jan-2026',
  'Jan 2026',
  '15-mars',
  '03. Mrz',
  '2026-01-03',
  '03-01-2026',
  '3/1',
  '3/1/26',
  '03.01.26',
];
const OTHERS = [
  'JAN-03',
  'January',
  'MAR3',
  '2026-33-03',
  '2026-0103',
  '41/1',
  '3.1',
  'IEX-1001',
  '12-34',
  'Jane-3',
];

test.each(LIKE_DATES)('the code %s has a warning and is accepted', async (code) => {
  const { data } = await uploadCodes(['PLAIN-1', code]).ok();
  expect(data.created).toBe(2);
  expect(data.warnings).toMatchObject([
    { code: 'like_date', message: expect.stringContaining(`"${code}" in row 3`), rows: [3] },
  ]);
});

test('codes that no spreadsheet makes have none', async () => {
  expect((await uploadCodes(OTHERS).ok()).data.warnings).toEqual([]);
});

test('tracking numbers have the warning too, references have not', async () => {
  const file = `tracking_number,user_code,reference\nJan-03,IEX-1001,\n${newNumber()},IEX-1001,2026-01-03\n`;
  const { data } = await api
    .as('iex')
    .uploadPrealerts(multipart({ file: { file }, dry_run: 'true' }))
    .ok();
  expect(data.warnings).toMatchObject([{ code: 'like_date', rows: [2] }]);
});

const text = `${HEADER}\nA-1,José,Peña\n`;

test.each([
  ['little endian', Buffer.from(text, 'utf16le')],
  ['big endian', Buffer.from(text, 'utf16le').swap16()],
])('a file in UTF-16 without a byte order mark, %s, is refused with the cure', async (_name, file) => {
  const reply = await upload(file).answer();
  expect([reply.status, reply.errors[0]?.message]).toEqual([
    400,
    'file is in UTF-16 without a byte order mark. Write the mark (U+FEFF) at its beginning, or save it as CSV UTF-8.',
  ]);
});

test('a workbook of an old Excel is not taken for UTF-16', async () => {
  const workbook = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(504)]);
  expect((await upload(workbook).answer()).errors[0]?.message).toMatch(/workbook of the old kind/);
});
