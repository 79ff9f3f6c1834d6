import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { insertWithoutTriggers } from '../../../support/builders/many-rows.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { idsOf } from './listed-packages.js';

const { api, db, service } = withService();

/** More than are found without a look at their days, and more than are looked at from the newest on. */
const [MATCHING, NEWER] = [10_001, 20_000];

/** Inserts packages of a customer with a first name. Those with a higher number are newer. */
const insertNamed = (name: string, count: number, firstDay: string) =>
  insertWithoutTriggers(
    service().owner,
    `insert into packages (tenant_id, id, courier_id, user_code, first_name, house_number, tracking_number, tracking_key, weight_lb,
       warehouse_id, status, received_at, updated_at)
     select $1, gen_random_uuid(), $2, 'IEX-1001', $3, upper(left($3, 3)) || n, $3 || n, upper($3) || n, 1, $4, 'received',
       $5::timestamptz + n * interval '1 minute', now()
     from generate_series(1, $6::int) n`,
    [DEMO.tenants.demo, DEMO.couriers.IEX, name, DEMO.warehouses.primary, firstDay, count],
  );

test('of a text that more than 10,000 packages have, the newest 500 are found, however many newer ones do not have it', async () => {
  await insertNamed('Oldish', MATCHING, '2021-01-01T00:00:00Z');
  await insertNamed('Newer', NEWER, '2024-01-01T00:00:00Z');
  await db.query('vacuum analyze packages');
  const newest = await db.query<{ id: string }>(
    "select id from packages where first_name = 'Oldish' order by received_at desc, id desc limit 500",
  );
  for (const as of ['admin', 'iex']) {
    const reply = await api
      .as(as)
      .listPackages(unchecked({ q: 'oldish', limit: 500 }))
      .ok();
    expect(idsOf(reply)).toEqual(newest.map(({ id }) => id));
    expect(reply.meta).toMatchObject({ total_count: 500, total_is_exact: true });
  }
  expect(
    idsOf(
      await api
        .as('hrb')
        .listPackages(unchecked({ q: 'oldish' }))
        .ok(),
    ),
  ).toEqual([]);
}, 120_000);
