import { expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { listPackages } from '../../../../src/modules/packages/list/queries.js';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import { blocksOf } from '../../../support/assertions/blocks.js';
import { insertWithoutTriggers } from '../../../support/builders/many-rows.js';
import { withService } from '../../../support/fixture/with-service.js';

const { db, service } = withService();

/** Every tenth package is of the courier, and lighter than all of the others. Neighbours in the table are none in the order. */
const [PACKAGES, LIGHTEST] = [40_000, 10];

/** The part of the index with the heavier packages, and the rows of the page. Each of the heavier packages would be a block more. */
const MOST_BLOCKS = PACKAGES / 20;

test('the heaviest packages of a courier are found without reading the heavier ones of others', async () => {
  await insertWithoutTriggers(
    service().owner,
    `insert into packages (tenant_id, id, courier_id, house_number, tracking_number, tracking_key, weight_lb, warehouse_id)
     select $1, gen_random_uuid(), case when n % $6::int = 0 then $2::uuid else $3::uuid end, 'W' || n, 'W' || n, 'W' || n,
       case when n % $6::int = 0 then 1 else 100 + n * 7919 % 1000 end, $4
     from generate_series(1, $5::int) n`,
    [DEMO.tenants.demo, DEMO.couriers.IEX, DEMO.couriers.HRB, DEMO.warehouses.primary, PACKAGES, LIGHTEST],
  );
  await db.query('vacuum analyze packages');
  const staff = makeContext(
    service().db,
    {
      kind: 'user',
      tenantId: DEMO.tenants.demo,
      userId: DEMO.users.admin,
      role: 'admin',
      courierId: null,
      tokenVersion: 1,
      expiresAt: Math.floor(Date.now() / 1_000) + 3_600,
    },
    'a-request',
  );
  const page = { page: 1, limit: 50, sort_by: 'weight', sort_dir: 'DESC' } as const;
  const blocks = await blocksOf(staff, listPackages(staff, { courierID: DEMO.couriers.IEX }, page));
  process.stdout.write(`a page of ${PACKAGES} packages: ${blocks} blocks\n`);
  expect(blocks).toBeLessThan(MOST_BLOCKS);
}, 120_000);
