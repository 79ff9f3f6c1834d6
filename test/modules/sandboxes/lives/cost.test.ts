import { expect, test } from '@jest/globals';
import { selectStaff } from '../../../../src/modules/sandboxes/lives/queries.js';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import { blocksOf } from '../../../support/assertions/blocks.js';
import { makeSandbox } from '../../../support/fixture/sandboxes.js';
import { withService } from '../../../support/fixture/with-service.js';
import { livesOf } from './lives-calls.js';

const { db, service } = withService();

const PREALERTS = 20_000;

test(`whether a sandbox has work is known without reading its ${PREALERTS} pending pre-alerts`, async () => {
  const { sandboxId, courierId, userCodes } = await makeSandbox(service());
  await db.query(
    `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, announced_key, vendor)
     select '${sandboxId}', gen_random_uuid(), '${courierId}', '${userCodes[0]}', 'M' || n, 'M' || n, 'M' || n, 'V'
     from generate_series(1, ${PREALERTS}) n`,
  );
  await db.query('vacuum analyze prealerts');
  const job = () => makeContext(service().db, { kind: 'system', tenantId: sandboxId }, 'a-job');
  // About 50; 600 with all of them.
  expect(await blocksOf(job(), selectStaff(job()))).toBeLessThan(150);
}, 60_000);

test('of the jobs that 100 changes of the clock queue, one waits', async () => {
  const sandbox = await makeSandbox(service());
  const lives = livesOf(service(), sandbox);
  for (let n = 0; n < 100; n += 1) await lives.manage({ action: 'set_speed', speed: n });
  const { rows } = await service().owner.query(
    `select count(*)::int as total from graphile_worker._private_jobs where payload::text like '%' || $1 || '%'`,
    [sandbox.sandboxId],
  );
  // One may run meanwhile.
  expect(rows[0]?.total).toBeLessThanOrEqual(2);
}, 60_000);
