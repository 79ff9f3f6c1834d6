import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { settleDelivered, START } from '../../../src/modules/carrier-tracking/public.js';
import { countMissing, pageOfMissing } from '../../../src/modules/prealerts/missing-queries.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { blocksOf } from '../../support/assertions/blocks.js';
import { withService } from '../../support/fixture/with-service.js';

// The list of missing parcels does not read what was delivered and scanned, nor all that is on its way.

const { db, service } = withService();
const { demo: tenantId } = DEMO.tenants;
const { IEX: courierId } = DEMO.couriers;

const [PARCELS, SHARE_ON_THEIR_WAY, SHARE_MISSING] = [10_000, 5, 500];
const MISSING = PARCELS / SHARE_MISSING;
const SETTLED_AT_ONCE = 100;

test(`the list reads few blocks of ${PARCELS} deliveries, and settling no more than it settles`, async () => {
  const isPending = `n % ${SHARE_ON_THEIR_WAY} = 0`;
  await db.query(
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, announced_key, vendor, status)
     select '${tenantId}', gen_random_uuid(), '${courierId}', 'IEX-1001', 'M' || n, 'M' || n, 'M' || n, 'V',
       case when ${isPending} then 'pending' else 'received' end
     from generate_series(1, ${PARCELS}) n`,
  );
  await db.query(
    `insert into carrier_states (tenant_id, courier_id, tracking_key, status, occurred_at, updated_at)
     select '${tenantId}', '${courierId}', 'M' || n,
       case when ${isPending} and n % ${SHARE_MISSING} <> 0 then 'moving' else 'delivered_at_warehouse_door' end,
       now() - interval '3 days' + n * interval '1 second', now() - interval '1 day'
     from generate_series(1, ${PARCELS}) n`,
  );
  await db.query('vacuum analyze carrier_states');
  await db.query('vacuum analyze prealerts');
  const job = () => makeContext(service().db, { kind: 'system', tenantId }, 'a-job');
  const [[half]] = await job().write([settleDelivered(job(), START, PARCELS / 2)]);
  if (!half) throw new Error('Nothing was examined.');
  await db.query('vacuum analyze carrier_states');
  const settling = await blocksOf(job(), settleDelivered(job(), half, SETTLED_AT_ONCE));
  await job().write([settleDelivered(job(), START, PARCELS)]);
  await db.query('vacuum analyze carrier_states');
  const person = makeContext(
    service().db,
    {
      kind: 'user',
      tenantId,
      userId: DEMO.users.iex,
      role: 'courier',
      courierId,
      tokenVersion: 1,
      expiresAt: Math.floor(Date.now() / 1_000) + 3_600,
    },
    'a-request',
  );
  const [[counted]] = await person.read([countMissing(person, { page: 1, limit: 25 })]);
  expect(counted?.total).toBe(MISSING);
  const page = await blocksOf(person, pageOfMissing(person, { page: 1, limit: 25 }));
  process.stdout.write(
    `settling ${SETTLED_AT_ONCE}: ${settling} blocks; a page of ${MISSING}: ${page} blocks\n`,
  );
  // About 20 for each row that is settled, and for each that is missing.
  expect(settling / SETTLED_AT_ONCE).toBeLessThan(35);
  expect(page / MISSING).toBeLessThan(35);
}, 120_000);
