import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { requeue } from '../../../../src/jobs/requeue.js';
import { makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { startSyncRig, type SyncRig } from '../../../support/builders/customer-sync.js';
import { changeMeanwhile } from '../../../support/harness/meanwhile.js';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

// While pre-alerts still have the previous code of a renamed customer, no other customer gets it (decision 0103).

const { IEX } = DEMO.couriers;
const TENANT = DEMO.tenants.demo;

const { api, service } = withService();
let parcels: ReturnType<typeof makeParcels>;
let rig: SyncRig;

beforeAll(async () => {
  parcels = makeParcels(service());
  rig = await startSyncRig(service());
}, 60_000);
afterAll(() => rig.stop());

let serial = 0;
const newCode = () => `FREED-${(serial += 1)}`;
const UNFINISHED = { status: 409, body: { code: 'rename_unfinished' } };

const create = (user_code: string, first_name = 'Bob') =>
  api.as('iex').createCustomer({ user_code, first_name, last_name: 'Last' }).answer();

const rename = (courier_customer_id: string, user_code: string) =>
  api.as('iex').updateCustomer({ courier_customer_id, user_code }).answer();

const remove = (id: string) => api.as('iex').deleteCustomer(undefined, { query: { id } }).ok();

const upload = (code: string, dry_run = false) =>
  api
    .as('iex')
    .uploadCustomers(
      multipart({
        file: { file: `user_code,first_name,last_name,branch\n${code},Bob,Last,Main\n` },
        ...(dry_run ? { dry_run: 'true' } : {}),
      }),
    )
    .answer();

const synchronise = (user_code: string) => rig.sync([{ user_code, first_name: 'Bob', last_name: 'Last' }]);

const store = (code: string, count: number) =>
  parcels.select(
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, status)
     select $1, new_id(), $2, $3, $3 || 'N' || n, $3 || 'N' || n, 'received' from generate_series(1, $4::int) n`,
    [TENANT, IEX, code, count],
  );

const countOf = async (code: string) =>
  (await parcels.select('select count(*)::int as n from prealerts where user_code = $1', [code]))[0]?.['n'];

const finish = () => requeue({ db: service().db });

/** A customer with so many received pre-alerts that a rename leaves most of them to the worker. */
async function makeAlice(): Promise<{ id: string; code: string; newCode: string }> {
  const code = newCode();
  const { data } = await create(code, 'Alice');
  await store(code, 1_000);
  return { id: data.id, code, newCode: `${code}-NEW` };
}

test('a pre-alert that is moved to the next customer with a code stays there', async () => {
  const alice = await makeAlice();
  const number = newNumber();
  const prealert_id = await parcels.announce('IEX', number);
  await rename(alice.id, alice.newCode);
  expect(await create(alice.code)).toMatchObject(UNFINISHED);
  const fields = { prealert_id, tracking_number: number, vendor: 'Shop' };
  const moved = await api
    .as('iex')
    .replacePrealert({ ...fields, user_code: alice.code })
    .answer();
  expect([moved.status, moved.body['code']]).toEqual([400, 'unknown_user_code']);
  await finish();
  expect((await create(alice.code)).status).toBe(200);
  await api
    .as('iex')
    .replacePrealert({ ...fields, user_code: alice.code })
    .ok();
  await finish();
  expect(await countOf(alice.code)).toBe(1);
  const { body } = await parcels.scan(number);
  expect(body['data']).toMatchObject({ user_code: alice.code, prealert_id });
  expect(await countOf(alice.newCode)).toBe(1_000);
});

test('the pre-alerts of a customer who is deleted after a rename get the last code, and the next customer with a code gets none', async () => {
  const alice = await makeAlice();
  const last = `${alice.code}-LAST`;
  await rename(alice.id, alice.newCode);
  await rename(alice.id, last);
  await remove(alice.id);
  expect(await create(alice.code)).toMatchObject(UNFINISHED);
  await finish();
  expect([await countOf(alice.code), await countOf(alice.newCode), await countOf(last)]).toEqual([
    0, 0, 1_000,
  ]);
  expect((await create(alice.code)).status).toBe(200);
  const listed = await api.as('iex').listPrealerts({ search: alice.code, limit: 1 }).ok();
  expect(listed.data[0]).toMatchObject({ user_code: last, first_name: null });
});

test('no way to store customers gives a code to another customer before the worker has finished', async () => {
  const alice = await makeAlice();
  const other = await create(newCode());
  await rename(alice.id, alice.newCode);
  expect(await create(alice.code)).toMatchObject(UNFINISHED);
  expect(await rename(other.data.id, alice.code)).toMatchObject(UNFINISHED);
  expect(await upload(alice.code)).toMatchObject(UNFINISHED);
  expect(await upload(alice.code, true)).toMatchObject(UNFINISHED);
  expect(await synchronise(alice.code)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('Synchronise again in some minutes.'),
  });
  // Other codes, and the customer itself, do not wait.
  expect((await upload(newCode())).status).toBe(200);
  expect(await synchronise(newCode())).toMatchObject({ status: 'succeeded' });
  expect((await rename(alice.id, alice.code)).status).toBe(200);
  expect(await synchronise(alice.code)).toMatchObject({ status: 'succeeded' });
  expect((await rename(alice.id, alice.newCode)).status).toBe(200);
  await finish();
  expect(await synchronise(alice.code)).toMatchObject({ status: 'succeeded' });
  expect([await countOf(alice.code), await countOf(alice.newCode)]).toEqual([0, 1_000]);
});

test('a rename of a customer with the last code of a deleted one waits for the worker', async () => {
  const alice = await makeAlice();
  await rename(alice.id, alice.newCode);
  await remove(alice.id);
  const next = await create(alice.newCode);
  expect(await rename(next.data.id, newCode())).toMatchObject(UNFINISHED);
  await finish();
  expect((await rename(next.data.id, newCode())).status).toBe(200);
});

/** What a rename does in its transaction, in the order of the locks. */
const renameRows = ({ id, code, newCode: to }: { id: string; code: string; newCode: string }) => ({
  text: `with renamed as (update customers set user_code = $3 where id = $1)
    insert into prealert_renames (tenant_id, courier_id, user_code, customer_id, new_user_code)
    values ($4, $5, $2, $1, $3)`,
  values: [id, code, to, TENANT, IEX],
});

test.each([
  ['createCustomer', async (code: string) => (await create(code)).body['code']],
  ['an upload', async (code: string) => (await upload(code)).body['code']],
  [
    'a synchronisation',
    async (code: string) =>
      String((await synchronise(code))['error']).includes('pre-alerts still get') && 'rename_unfinished',
  ],
])('%s that waits for a rename does not get the code', async (_way, getCode) => {
  const alice = await makeAlice();
  const refused = await changeMeanwhile(service().owner, renameRows(alice), () => getCode(alice.code));
  expect(refused).toBe('rename_unfinished');
  const rows = await parcels.select('select id from customers where courier_id = $1 and user_code = $2', [
    IEX,
    alice.code,
  ]);
  expect(rows).toEqual([]);
  await finish();
});
