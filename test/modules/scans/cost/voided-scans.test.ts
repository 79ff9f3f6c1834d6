import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { findWaitingScan } from '../../../../src/modules/packages/intake/queries.js';
import { usesOfPackage } from '../../../../src/modules/packages/void/queries.js';
import { countScans, scansOfParcels } from '../../../../src/modules/scans/batch/stored/queries.js';
import { makeContext } from '../../../../src/platform/context/request-context.js';
import { blocksOf } from '../../../support/assertions/blocks.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';
import { deviceScan, sendScan } from '../../../support/scans/device-scans.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';

/** Scans of voided receipts of one parcel, which stay until the retention. */
const VOIDED = 20_000;
/** More than the few scans that count have, and far less than all. */
const MAX_BLOCKS = 60;

const { api, db, service } = withService();
const { receive } = makeScanCalls(api);

const number = newNumber();
let packageId: string;

const contextOf = () =>
  makeContext(
    service().db,
    {
      kind: 'user',
      tenantId: DEMO.tenants.demo,
      userId: DEMO.users.warehouse,
      role: 'warehouse',
      courierId: null,
      tokenVersion: 1,
      expiresAt: Math.floor(Date.now() / 1000) + 3_600,
    },
    'a-request',
  );

beforeAll(async () => {
  packageId = (await receive(number, { user_code: 'IEX-1001' }).created()).data.package_id;
  await sendScan(api, deviceScan('locate', number, 0, { location: 'Shelf 3' }));
  await db.query(
    `insert into scans select s.* from scans t cross join generate_series(1, ${VOIDED}) n
     cross join lateral jsonb_populate_record(t,
       jsonb_build_object('id', gen_random_uuid(), 'scan', t.scan || n, 'voided_at', now(), 'event_id', null)) as s
     where t.parcel_key = $1`,
    [number],
  );
  await db.query('vacuum analyze scans');
}, 120_000);

test.each([
  ['the count', () => countScans(contextOf(), [number], 501)],
  ['the newest scans', () => scansOfParcels(contextOf(), [number], 500)],
  ['the waiting scan', () => findWaitingScan(contextOf(), [number])],
  ['the uses of the package', () => usesOfPackage(contextOf(), packageId)],
] as const)(`%s of a parcel reads none of its ${VOIDED} voided scans`, async (_, statement) => {
  expect(await blocksOf(contextOf(), statement())).toBeLessThan(MAX_BLOCKS);
});

test('a corrected number takes only the scans that count along', async () => {
  const corrected = newNumber();
  await api.as('warehouse').updatePackage({ package_id: packageId, tracking_number: corrected }).ok();
  expect(await db.count('scans', { parcel_key: corrected })).toBe(1);
  expect(await db.count('scans', { parcel_key: number })).toBe(VOIDED);
  expect(await blocksOf(contextOf(), countScans(contextOf(), [corrected], 501))).toBeLessThan(MAX_BLOCKS);
});
