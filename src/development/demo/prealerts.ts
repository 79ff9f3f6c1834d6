import { trackingKey } from '../../modules/tracking-numbers/tracking-key.js';
import { daysBefore } from './values/calendar.js';
import { customer } from './customers.js';
import { type CourierCode, DEMO } from './demo.js';
import { type SeededRandom, seededRandom } from './values/seeded-random.js';
import { goods } from './values/goods.js';
import { demoId, type TenantSlug } from './values/ids.js';
import type { PackageRow } from './packages.js';
import type { Row } from './values/rows.js';
import { CARRIERS } from '../reference/companies.js';
import { shortNumber } from '../reference/tracking-numbers.js';

const MS_A_DAY = 86_400_000;
const PENDING = { IEX: 14, HRB: 8 };
const FIRST_FLAGGED = 201;

/** Returns pre-alerts in all three statuses: pending, received, and flagged (two couriers announced the same number). */
export function demoPrealertRows(packages: PackageRow[], now: Date): Row[] {
  const twiceAnnounced = packages.filter((row) => row.courier_id === null).slice(1, 4);
  return [
    ...count(PENDING.IEX).map((n) => pendingRow('demo', n, customer('IEX', n).userCode, 'IEX', now)),
    ...count(PENDING.HRB).map((n) =>
      pendingRow('demo', PENDING.IEX + n, customer('HRB', n).userCode, 'HRB', now),
    ),
    ...packages.flatMap(receivedRow),
    ...twiceAnnounced.flatMap((row, index) => [
      flaggedRow(row, FIRST_FLAGGED + 2 * index, 'IEX'),
      flaggedRow(row, FIRST_FLAGGED + 2 * index + 1, 'HRB'),
    ]),
  ];
}

export function prealertRowsOfTwo(packages: PackageRow[], now: Date): Row[] {
  return [
    ...count(2).map((n) => pendingRow('two', n, customer('TWO', n).userCode, 'TWO', now)),
    ...packages.flatMap(receivedRow),
  ];
}

const count = (total: number) => Array.from({ length: total }, (_, index) => index + 1);

function pendingRow(tenant: TenantSlug, n: number, userCode: string, courier: CourierCode, now: Date) {
  const random = seededRandom((tenant === 'demo' ? 10_000 : 60_000) + n);
  const { shipper, description } = goods(random);
  const number = shortNumber(random.pick(CARRIERS), random);
  const createdAt = daysBefore(now, random.whole(1, 6), random.whole(0, 1439));
  return {
    tenant_id: DEMO.tenants[tenant],
    id: demoId(tenant, 'prealert', n),
    courier_id: DEMO.couriers[courier],
    user_code: userCode,
    tracking_number: number,
    tracking_key: trackingKey(number),
    vendor: shipper,
    description,
    reference: reference(random),
    status: 'pending',
    created_at: createdAt,
    updated_at: createdAt,
  };
}

// The customer announces the shipper's number. The warehouse may have scanned the longer barcode.
function receivedRow(row: PackageRow, index: number): Row[] {
  if (!row.prealert_id || !row.courier_id || !row.user_code) return [];
  const random = seededRandom(20_000 + index);
  return [
    {
      tenant_id: row.tenant_id,
      id: row.prealert_id,
      courier_id: row.courier_id,
      user_code: row.user_code,
      tracking_number: row.tracking_key,
      tracking_key: row.tracking_key,
      vendor: row.shipper,
      description: row.description,
      reference: reference(random),
      status: 'received',
      created_at: daysEarlier(row.received_at, random.whole(1, 5)),
      updated_at: row.received_at,
    },
  ];
}

function flaggedRow(row: PackageRow, n: number, courier: 'IEX' | 'HRB'): Row {
  const random = seededRandom(30_000 + n);
  return {
    tenant_id: row.tenant_id,
    id: demoId('demo', 'prealert', n),
    courier_id: DEMO.couriers[courier],
    user_code: customer(courier, random.whole(1, 90)).userCode,
    tracking_number: row.tracking_key,
    tracking_key: row.tracking_key,
    vendor: row.shipper,
    description: null,
    reference: reference(random),
    status: 'flagged',
    created_at: daysEarlier(row.received_at, random.whole(1, 5)),
    updated_at: row.received_at,
  };
}

const daysEarlier = (moment: string, days: number) =>
  new Date(Date.parse(moment) - days * MS_A_DAY).toISOString();
const reference = (random: SeededRandom) =>
  random.whole(1, 3) === 1 ? null : `PO-${random.whole(10_000, 99_999)}`;
