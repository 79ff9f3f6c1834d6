import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { requeue } from '../../../../src/jobs/requeue.js';
import { CUSTOMERS, makeParcels, newNumber, type CourierCode } from '../../../support/builders/parcels.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { withService } from '../../../support/fixture/with-service.js';

// A rename writes a bounded number of pre-alerts, and stops no submission of another code (decision 0103).

/** The most open pre-alerts that a rename writes itself, and the most others. */
const MAX_WRITTEN = 100;
const { IEX } = DEMO.couriers;
const TENANT = DEMO.tenants.demo;

const { api, service } = withService();
let parcels: ReturnType<typeof makeParcels>;
beforeAll(() => {
  parcels = makeParcels(service());
});

let serial = 0;

async function makeCustomer(user_code = `MANY-${(serial += 1)}`): Promise<{ id: string; code: string }> {
  const body = { user_code, first_name: 'First', last_name: 'Last' };
  const { data } = await api.as('iex').createCustomer(body).ok();
  return { id: data.id, code: user_code };
}

const rename = (courier_customer_id: string, user_code: string) =>
  api.as('iex').updateCustomer({ courier_customer_id, user_code }).ok();

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

const idsOf = async (code: string) =>
  (await parcels.select('select id from prealerts where user_code = $1 order by id', [code])).map(
    ({ id }) => id,
  );

const finish = () => requeue({ db: service().db });

test('a rename writes 100 pre-alerts, and the worker any number of others, with an entry that names them', async () => {
  const { id, code } = await makeCustomer();
  await store(code, 2_000, 'pending');
  await store(code, 1_000, 'received');
  const to = `${code}-NEW`;
  await rename(id, to);
  expect([await countOf(code), await countOf(to)]).toEqual([3_000 - MAX_WRITTEN, MAX_WRITTEN]);
  const left = await idsOf(code);
  await finish();
  expect([await countOf(code), await countOf(to)]).toEqual([0, 3_000]);
  const entries = (await parcels.auditOf(id)).filter(({ action }) => action === 'customer.prealerts_renamed');
  expect(entries[0]).toMatchObject({ before: { user_code: code }, after: { user_code: to, prealerts: 500 } });
  const named = entries.flatMap(({ after }) => (after as { prealert_ids: string[] }).prealert_ids);
  expect(named.sort()).toEqual(left);
});

test('pre-alerts that the worker has still to write have the new code everywhere', async () => {
  const { id, code } = await makeCustomer();
  await store(code, MAX_WRITTEN, 'pending');
  const [scanned, replaced, flagged, linked] = [newNumber(), newNumber(), newNumber(), newNumber()];
  const scannedId = await parcels.announce('IEX', scanned, code);
  const replacedId = await parcels.announce('IEX', replaced, code);
  const flaggedId = await parcels.announce('IEX', flagged, code);
  // Received before it is announced, without a customer.
  const packageId = await parcels.receive(linked, { courier_id: IEX });
  const linkedId = await parcels.announce('IEX', linked, code);
  const to = `${code}-NEW`;
  await rename(id, to);
  expect(await idsOf(code)).toEqual([scannedId, replacedId, flaggedId, linkedId].sort());

  const listed = await api.as('iex').listPrealerts({ search: scanned }).ok();
  expect(listed.data).toEqual([expect.objectContaining({ user_code: to, first_name: 'First' })]);
  const resolved = await api.as('warehouse').resolveScan({ scan: scanned }).ok();
  expect(resolved.data).toMatchObject({
    matches: { prealerts: [{ user_code: to }] },
    owner: { user_code: to, first_name: 'First' },
  });
  const repeated = await parcels.submit('IEX', scanned, to);
  expect(repeated.body).toMatchObject({ existing: { user_code: to, differs: false } });
  const received = await parcels.scan(scanned, { user_code: to });
  expect(received).toMatchObject({
    status: 201,
    body: { data: { matched_by: 'prealert', user_code: to, prealert_id: scannedId } },
  });

  // A package that gets the customer finds the pre-alert.
  expect((await parcels.update('admin', packageId, { user_code: to })).status).toBe(200);
  expect(await parcels.packageRow(packageId)).toMatchObject({ user_code: to, prealert_id: linkedId });

  // A review assigns the package to the customer.
  await parcels.select(`update prealerts set status = 'flagged' where id = $1`, [flaggedId]);
  const contested = await parcels.receive(flagged);
  const review = { prealert_id: flaggedId, reason: 'It is theirs.', assign: true };
  await api.as('manager').reviewPrealert(review).ok();
  expect(await parcels.packageRow(contested)).toMatchObject({ user_code: to, first_name: 'First' });

  const fields = { prealert_id: replacedId, user_code: to, tracking_number: replaced, vendor: 'Shop' };
  const changed = await api.as('iex').replacePrealert(fields).ok();
  expect(changed.data).toMatchObject({ user_code: to });
  await finish();
  expect(await idsOf(code)).toEqual([]);
});

test('a customer that gets its code back keeps all pre-alerts', async () => {
  const { id, code } = await makeCustomer();
  await store(code, 2_000, 'received');
  for (const to of [`${code}-B`, code, `${code}-C`, `${code}-D`]) await rename(id, to);
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
  api.withKey(DEMO.apiKeys[courier]).submitPrealert({ UserCode, TrackingNumber: newNumber() }).answer();

test('submissions of other codes do not wait for a code that is locked', async () => {
  const { rows } = await service().owner.query<{ code: string }>(
    `select code from (select 'HELD-' || n as code from generate_series(1, 40) n) as codes
     where hashtext(code) & 31 <> hashtext($1) & 31 limit 1`,
    [CUSTOMERS.IEX],
  );
  const { code: blockedCode } = await makeCustomer(rows[0]?.code);
  const client = await service().owner.connect();
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock(hashtext($1), hashtext($2) & 31)', [
    `user codes ${TENANT}`,
    blockedCode,
  ]);
  // On a slow machine they wait for more than two seconds, are refused as overloaded, and are sent again.
  const blocked = Array.from({ length: 20 }, () => untilAdmitted(() => submit('IEX', blockedCode)));
  for (let round = 0; round < 5; round += 1) {
    const free = await Promise.all(Array.from({ length: 40 }, () => submit('IEX', CUSTOMERS.IEX)));
    expect(new Set(free.map(({ status }) => status))).toEqual(new Set([201]));
  }
  await client.query('rollback');
  client.release();
  expect(new Set((await Promise.all(blocked)).map(({ status }) => status))).toEqual(new Set([201]));
});
