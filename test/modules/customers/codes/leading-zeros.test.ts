import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startSyncRig, type SyncRig } from '../../../support/builders/customer-sync.js';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

// A spreadsheet makes 12738732 of 0012738732. Each way to create a customer warns of one that is equal but for leading zeros.

const { api, service } = withService();
let rig: SyncRig;

const NAMES = { first_name: 'First', last_name: 'Last' };
const create = (user_code: string, as = 'iex') =>
  api
    .as(as)
    .createCustomer({ user_code, ...NAMES })
    .ok();

beforeAll(async () => {
  rig = await startSyncRig(service());
  for (const code of ['0012738732', '4711', 'A0015', '000']) await create(code);
  await create('089', 'hrb');
}, 60_000);

afterAll(() => rig.stop());

async function upload(rows: string[], dry_run = 'false') {
  const file = `user_code,first_name,last_name\n${rows.map((code) => `${code},First,Last\n`).join('')}`;
  const form = multipart({ file: { file }, dry_run });
  return (await api.as('iex').uploadCustomers(form).ok()).data;
}

test.each(['true', 'false'])('an upload names the rows of such codes, with dry_run %s', async (dry_run) => {
  const data = await upload(['12738732', 'A15', '4711', '00004711', '88', '0'], dry_run);
  expect(data).toMatchObject({ processed: 6, created: 5, unchanged: 1 });
  expect(data.warnings).toEqual([
    {
      code: 'leading_zeros',
      message:
        'Row 2: The user code 12738732 equals that of the existing customer 0012738732 but for leading zeros, which spreadsheets remove. If they are one customer, use the code 0012738732.',
      rows: [2, 5, 7],
    },
  ]);
});

test('customers that exist already have no warning', async () => {
  expect(await upload(['12738732', '4711'])).toMatchObject({ created: 0, warnings: [] });
});

test('a file of more rows than are looked up one by one has the warning too', async () => {
  const rows = Array.from({ length: 1_200 }, (_, index) => String(500_000 + index));
  expect(await upload(rows)).toMatchObject({ created: 1_200, warnings: [] });
  const { created, warnings } = await upload(rows.map((code) => `00${code}`));
  expect(created).toBe(1_200);
  expect(warnings[0]).toMatchObject({ code: 'leading_zeros', rows: rows.slice(0, 100).map((_, n) => n + 2) });
});

test('a synchronisation stores the record, and its problems warn', async () => {
  await create('0031');
  const run = await rig.sync([
    { user_code: 'A31', ...NAMES },
    { user_code: '31', ...NAMES },
    { user_code: '0031', ...NAMES },
    { user_code: '000031' },
  ]);
  expect(run).toMatchObject({ created: 2, unchanged: 1, skipped: 1 });
  expect(run.problems).toMatchObject([
    {
      index: 1,
      field: 'user_code',
      code: 'leading_zeros',
      message: expect.stringMatching(/^Record 1: .* 0031 /),
    },
    { index: 3, code: 'required' },
  ]);
});

test('a single creation and a new code warn, and a code of another courier does not count', async () => {
  await create('0055');
  const { data } = await create('55');
  expect(data.warnings).toMatchObject([{ code: 'leading_zeros', message: expect.stringContaining('0055') }]);
  expect((await create('89')).data).not.toHaveProperty('warnings');
  const update = (user_code: string) =>
    api.as('iex').updateCustomer({ courier_customer_id: data.id, user_code }).ok();
  expect((await update('055')).data.warnings).toMatchObject([{ code: 'leading_zeros' }]);
  expect((await update('056')).data).not.toHaveProperty('warnings');
});
