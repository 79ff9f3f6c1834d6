import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { startSyncRig, type SyncRig } from '../../../support/builders/customer-sync.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { startService, type Service } from '../../../support/service/service.js';

// A user code that fits a carrier's format of tracking numbers is possible. Each way to create it warns.

let service: Service;
let rig: SyncRig;

beforeAll(async () => {
  service = await startService();
  rig = await startSyncRig(service);
}, 60_000);

afterAll(async () => {
  await rig.stop();
  await service.stop();
});

/** Of Amazon, which has no check digit, of UPS, of FedEx and of the post. */
const LIKE_NUMBERS = ['TBA721696669203', '1Z5R89390357567127', '986578788855', 'RB123456785GB'];
const NAMES = { first_name: 'First', last_name: 'Last' };
const WARNING = { code: 'like_tracking_number', message: expect.stringMatching(/form of a tracking number/) };

const create = (user_code: string) =>
  service.call('createCustomer', { as: 'iex', body: { user_code, ...NAMES } });

test.each(LIKE_NUMBERS)('creating a customer with the code %s warns, and stores it', async (code) => {
  expect(await create(code)).toMatchObject({ status: 200, body: { data: { warnings: [WARNING] } } });
  const other = await create(`C-${code.slice(0, 5)}`);
  expect(Object.keys(other.body['data'])).toEqual(['id']);
});

test('a change to such a code warns, and another change does not', async () => {
  const { body } = await create(newNumber());
  const courier_customer_id = String(body['data'].id);
  const update = (fields: object) =>
    service.call('updateCustomer', { as: 'iex', body: { courier_customer_id, ...fields } });
  const renamed = await update({ user_code: 'TBA721696669299' });
  expect(renamed).toMatchObject({ status: 200, body: { data: { warnings: [WARNING] } } });
  expect((await update({ first_name: 'Other' })).body['data']).not.toHaveProperty('warnings');
});

test('an upload names the rows, in a dry run too', async () => {
  const rows = ['TBA721696669210,A,B', `${newNumber()},A,B`, 'TBA721696669211,A,B'];
  for (const dry_run of ['true', 'false']) {
    const file = `user_code,first_name,last_name\n${rows.join('\n')}\n`;
    const { body } = await service.call('uploadCustomers', {
      as: 'iex',
      form: { file: { file }, dry_run },
    });
    expect(body['data']).toMatchObject({
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
  const { rows } = await service.owner.query(
    'select from customers where courier_id = $1 and user_code = $2',
    [DEMO.couriers.IEX, 'TBA721696669220'],
  );
  expect(rows).toHaveLength(1);
});
