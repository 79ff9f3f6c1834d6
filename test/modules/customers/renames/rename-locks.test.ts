import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { CUSTOMERS, makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { rounds } from '../../../support/harness/effort.js';
import { withService } from '../../../support/fixture/with-service.js';

// The locks of user codes are shared by all couriers of a tenant, so a rename of one courier must not hold them for long (decision 0103).

const LIMIT = 9_000;
const OPEN = 2_000;
const MS = rounds(4_000, 9_000);
const { IEX } = DEMO.couriers;
const TENANT = DEMO.tenants.demo;

const { api, service } = withService({ env: { CUSTOMER_CHANGES_PER_DAY: String(LIMIT) } });
let parcels: ReturnType<typeof makeParcels>;
beforeAll(() => {
  parcels = makeParcels(service());
});
beforeEach(() => parcels.select('delete from courier_quotas'));

const useUp = () => parcels.select('update courier_quotas set used = $1', [LIMIT]);

let series = 0;

/** Codes with the same lock as the customer of another courier, others for each call. */
const codesBeside = async (count: number): Promise<string[]> =>
  (
    await parcels.select(
      `select code from (select 'BESIDE-' || $3::text || '-' || n as code from generate_series(1, $1 * 200) n) as codes
       where hashtext(code) & 31 = hashtext($2) & 31 order by random() limit $1`,
      [count, CUSTOMERS.HRB, String((series += 1))],
    )
  ).map(({ code }) => String(code));

async function makeCustomer(user_code: string): Promise<string> {
  const body = { user_code, first_name: 'First', last_name: 'Last' };
  const { data } = await api.as('iex').createCustomer(body).ok();
  await parcels.select(
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, status)
     select $1, new_id(), $2, $3, $3 || 'N' || n, $3 || 'N' || n, 'pending' from generate_series(1, $4::int) n`,
    [TENANT, IEX, user_code, OPEN],
  );
  return data.id;
}

const rename = (courier_customer_id: string, user_code: string) =>
  api.as('iex').updateCustomer({ courier_customer_id, user_code });

test('a rename or a deletion that the quota refuses waits for no lock and takes none', async () => {
  const [code = '', to = ''] = await codesBeside(2);
  const id = await makeCustomer(code);
  await useUp();
  const client = await service().owner.connect();
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock(hashtext($1), hashtext($2) & 31)', [
    `user codes ${TENANT}`,
    code,
  ]);
  const deletion = api.with({ as: 'iex', query: { id } }).deleteCustomer();
  const refused = [await rename(id, to).answer(), await deletion.answer()];
  await client.query('rollback');
  client.release();
  expect(refused.map(({ status, code }) => [status, code])).toEqual([
    [429, 'quota_exceeded'],
    [429, 'quota_exceeded'],
  ]);
});

test('renames beside a code, with and without a quota that is left, refuse no pre-alert and no intake of the code', async () => {
  const codes = await codesBeside(200);
  const ids = await Promise.all(codes.splice(0, 4).map(makeCustomer));
  const endMs = performance.now() + MS;
  const isRunning = () => performance.now() < endMs;
  const statuses = { renames: new Set<number>(), victims: new Set<number>() };
  // When the quota is used up, any code is refused, so a fast machine may send the last one again.
  const nextCode = () => (codes.length > 1 ? codes.pop() : codes[0]) ?? '';
  const attack = async (id: string) => {
    while (isRunning()) statuses.renames.add(await rename(id, nextCode()).status());
  };
  const victim = async () => {
    while (isRunning()) {
      const announced = await parcels.submit('HRB', newNumber());
      const received = await parcels.scan(newNumber(), { user_code: CUSTOMERS.HRB });
      statuses.victims.add(announced.status).add(received.status);
    }
  };
  await Promise.all([...ids.map(attack), victim(), victim(), victim()]);
  expect([...statuses.renames].sort()).toEqual([200, 429]);
  expect([...statuses.victims]).toEqual([201]);
}, 60_000);

test('no pre-alert row is awaited under the lock', async () => {
  const [code = '', to = ''] = await codesBeside(2);
  const id = await makeCustomer(code);
  const client = await service().owner.connect();
  await client.query('begin');
  await client.query('select id from prealerts where user_code = $1 for update', [code]);
  const renamed = await rename(id, to).status();
  await client.query('rollback');
  client.release();
  expect(renamed).toBe(200);
});
