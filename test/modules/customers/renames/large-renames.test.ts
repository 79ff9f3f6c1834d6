import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { requeue } from '../../../../src/jobs/requeue.js';
import { CUSTOMERS, makeParcels, newNumber, type CourierCode } from '../../../support/builders/parcels.js';
import { startService, type Service } from '../../../support/service/service.js';

// A rename writes a bounded number of pre-alerts, and stops no submission of another code (decision 0103).

const MAX_OPEN = 2_000;
const { IEX } = DEMO.couriers;
const TENANT = DEMO.tenants.demo;

let service: Service;
let parcels: ReturnType<typeof makeParcels>;

beforeAll(async () => {
  service = await startService();
  parcels = makeParcels(service);
});

afterAll(() => service.stop());

let serial = 0;

async function makeCustomer(user_code = `MANY-${(serial += 1)}`): Promise<{ id: string; code: string }> {
  const body = { user_code, first_name: 'First', last_name: 'Last' };
  const { body: reply } = await service.call('createCustomer', { as: 'iex', body });
  return { id: String(reply['data'].id), code: user_code };
}

const rename = (courier_customer_id: string, user_code: string) =>
  service.call('updateCustomer', { as: 'iex', body: { courier_customer_id, user_code } });

/** Stores pre-alerts of a code. The attack uploaded them in three files. */
const store = (code: string, count: number, status: 'pending' | 'received') =>
  parcels.select(
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, status)
     select $1, new_id(), $2, $3, $3 || $5 || n, $3 || $5 || n, $5 from generate_series(1, $4::int) n`,
    [TENANT, IEX, code, count, status],
  );

const countOf = async (code: string): Promise<unknown> =>
  (
    await parcels.select(
      'select count(*)::int as n from prealerts where courier_id = $1 and user_code = $2',
      [IEX, code],
    )
  )[0]?.['n'];

const finish = () => requeue({ db: service.db });

test('a rename that would write too many open pre-alerts is refused, and changes nothing', async () => {
  const { id, code } = await makeCustomer();
  await store(code, MAX_OPEN + 1, 'pending');
  const refused = await rename(id, `${code}-NEW`);
  expect(refused).toMatchObject({ status: 409, body: { code: 'too_many_open_prealerts' } });
  expect([await countOf(code), await countOf(`${code}-NEW`)]).toEqual([MAX_OPEN + 1, 0]);
  await parcels.select(
    'delete from prealerts where id = (select max(id::text)::uuid from prealerts where user_code = $1)',
    [code],
  );
  expect((await rename(id, `${code}-NEW`)).status).toBe(200);
  expect([await countOf(code), await countOf(`${code}-NEW`)]).toEqual([0, MAX_OPEN]);
});

test('the open pre-alerts get the new code at once, and the worker gives it to any number of received ones', async () => {
  const { id, code } = await makeCustomer();
  await store(code, 3_000, 'received');
  await store(code, 10, 'pending');
  const to = `${code}-NEW`;
  expect((await rename(id, to)).status).toBe(200);
  const open = await parcels.select(
    `select count(*)::int as n from prealerts where user_code = $1 and status = 'pending'`,
    [to],
  );
  expect(open).toEqual([{ n: 10 }]);
  expect(await countOf(code)).toBe(2_500);
  // The next customer with the code keeps its pre-alerts.
  const next = await makeCustomer(code);
  const announced = await parcels.announce('IEX', newNumber(), code);
  const blocked = await rename(next.id, `${code}-OTHER`);
  expect(blocked).toMatchObject({ status: 409, body: { code: 'rename_unfinished' } });
  await finish();
  expect([await countOf(to), await countOf(code)]).toEqual([3_010, 1]);
  expect(await parcels.select('select id from prealerts where user_code = $1', [code])).toEqual([
    { id: announced },
  ]);
  const entries = await parcels.auditOf(id);
  const counted = entries.filter(({ action }) => action === 'customer.prealerts_renamed');
  expect(counted.map(({ after }) => (after as { prealerts: number }).prealerts)).toEqual([
    500, 500, 500, 500, 500,
  ]);
  expect((await rename(next.id, `${code}-OTHER`)).status).toBe(200);
  expect(await countOf(`${code}-OTHER`)).toBe(1);
});

test('a customer that gets its code back keeps all pre-alerts', async () => {
  const { id, code } = await makeCustomer();
  await store(code, 2_000, 'received');
  for (const to of [`${code}-B`, code, `${code}-C`, `${code}-D`])
    expect((await rename(id, to)).status).toBe(200);
  await finish();
  expect([await countOf(code), await countOf(`${code}-B`), await countOf(`${code}-C`)]).toEqual([0, 0, 0]);
  expect(await countOf(`${code}-D`)).toBe(2_000);
});

test('the pre-alerts of a rename count against the quota', async () => {
  const { id, code } = await makeCustomer();
  await store(code, 700, 'received');
  const used = async () =>
    Number(
      (
        await parcels.select(
          `select used from courier_quotas where courier_id = $1 and kind = 'customer_changes'`,
          [IEX],
        )
      )[0]?.['used'],
    );
  const before = await used();
  await rename(id, `${code}-NEW`);
  expect((await used()) - before).toBe(701);
});

const submit = (courier: CourierCode, UserCode: string) =>
  service.call('submitPrealert', {
    key: DEMO.apiKeys[courier],
    body: { UserCode, TrackingNumber: newNumber() },
  });

test('submissions of other codes do not wait for a code that is locked', async () => {
  const { code } = await makeCustomer();
  const { rows } = await service.owner.query<{ differ: boolean }>(
    'select hashtext($1) & 31 <> hashtext($2) & 31 as differ',
    [code, CUSTOMERS.IEX],
  );
  const blockedCode = rows[0]?.differ ? code : (await makeCustomer()).code;
  const client = await service.owner.connect();
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock(hashtext($1), hashtext($2) & 31)', [
    `user codes ${TENANT}`,
    blockedCode,
  ]);
  const blocked = Array.from({ length: 20 }, () => submit('IEX', blockedCode));
  for (let round = 0; round < 5; round += 1) {
    const free = await Promise.all(Array.from({ length: 40 }, () => submit('IEX', CUSTOMERS.IEX)));
    expect(new Set(free.map(({ status }) => status))).toEqual(new Set([201]));
  }
  await client.query('rollback');
  client.release();
  expect(new Set((await Promise.all(blocked)).map(({ status }) => status))).toEqual(new Set([201]));
});
