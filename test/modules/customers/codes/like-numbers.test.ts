import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { startSyncRig, type SyncRig } from '../../../support/builders/customer-sync.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

// A user code that fits a carrier's format of tracking numbers is possible. Each way to create it warns.

const { api, db, service } = withService();
let rig: SyncRig;

beforeAll(async () => {
  rig = await startSyncRig(service());
}, 60_000);

afterAll(() => rig.stop());

/** Of Amazon, which has no check digit, of UPS, of FedEx and of the post. */
const LIKE_NUMBERS = ['TBA721696669203', '1Z5R89390357567127', '986578788855', 'RB123456785GB'];
const NAMES = { first_name: 'First', last_name: 'Last' };
const WARNING = { code: 'like_tracking_number', message: expect.stringMatching(/form of a tracking number/) };

const create = (user_code: string) =>
  api
    .as('iex')
    .createCustomer({ user_code, ...NAMES })
    .ok();

test.each(LIKE_NUMBERS)('creating a customer with the code %s warns, and stores it', async (code) => {
  expect((await create(code)).data).toMatchObject({ warnings: [WARNING] });
  const other = await create(`C-${code.slice(0, 5)}`);
  expect(Object.keys(other.data)).toEqual(['id']);
});

test('a change to such a code warns, and another change does not', async () => {
  const { data } = await create(newNumber());
  const update = (fields: object) =>
    api
      .as('iex')
      .updateCustomer({ courier_customer_id: data.id, ...fields })
      .ok();
  const renamed = await update({ user_code: 'TBA721696669299' });
  expect(renamed.data).toMatchObject({ warnings: [WARNING] });
  expect((await update({ first_name: 'Other' })).data).not.toHaveProperty('warnings');
});

test('an upload names the rows, in a dry run too', async () => {
  const rows = ['TBA721696669210,A,B', `${newNumber()},A,B`, 'TBA721696669211,A,B'];
  for (const dry_run of ['true', 'false']) {
    const file = `user_code,first_name,last_name\n${rows.join('\n')}\n`;
    const form = multipart({ file: { file }, dry_run });
    const { data } = await api.as('iex').uploadCustomers(form).ok();
    expect(data).toMatchObject({
      processed: 3,
      created: 3,
      warnings: [{ ...WARNING, rows: [2, 4] }],
    });
  }
});

test('a synchronisation stores the record, and its problems warn', async () => {
  const run = await rig.sync([
    { user_code: 'TBA721696669220', ...NAMES },
    { user_code: newNumber(), ...NAMES },
  ]);
  expect(run).toMatchObject({
    created: 2,
    skipped: 0,
    problems: [{ index: 0, field: 'user_code', ...WARNING }],
  });
  const stored = { courier_id: DEMO.couriers.IEX, user_code: 'TBA721696669220' };
  expect(await db.count('customers', stored)).toBe(1);
});
