import { randomInt, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

// Computes what a courier owes in whole cents and thousandths of a pound, without our SQL and without intermediate
// rounding. Compares it with the preview and with the drafted bill.

// Every ten rounds include tables of 500 tiers, tables with the largest fees, and default tables.
const ROUNDS = rounds(6, 50);
const PACKAGES_EACH = rounds(600, 2_000);
const MAX_TIERS = 500;
const MAX_LB = 99_999_999n;
const MAX_CENTS = 9_999_999_999n;
/** Packages per round that are received on the first day. With the largest fees a bill has room for no more. */
const FIRST_DAY_PACKAGES = 30;
const FIRST_DAY = '2024-05-15';
const SECOND_DAY = '2024-05-16';

const { service } = withService();

/** Both bounds are in thousandths of a pound. */
type Tier = { start: bigint; end: bigint; cents: bigint };
type Parcel = { id: string; weight: bigint; isAboard: boolean; isFirstDay: boolean };
type Case = {
  courierId: string;
  tiers: Tier[];
  parcels: Parcel[];
  /** Cents per pound. */
  rate: bigint;
  /** Thousandths of a percent. */
  tax: bigint;
  isHuge: boolean;
};

const decimal = (whole: bigint, decimals: number) => {
  const digits = whole.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
};
const lb = (thousandths: bigint) => decimal(thousandths, 3);
const usd = (cents: bigint) => decimal(cents, 2);
const sum = (values: bigint[]) => values.reduce((total, value) => total + value, 0n);
const between = (least: bigint, most: bigint) => least + BigInt(randomInt(Number(most - least) + 1));
const oneIn = (n: number) => randomInt(n) === 0;

/** Rounds half away from zero. */
const divideRounded = (value: bigint, by: bigint) => (2n * value + by) / (2n * by);

/**
 * Returns tiers in order. Some share a bound, some leave a gap of a thousandth or more, some cover a single weight.
 */
function randomTiers(count: number, isHuge: boolean): Tier[] {
  const tiers: Tier[] = [];
  const widest = MAX_LB / BigInt(count) / 2n;
  let from = oneIn(2) ? 0n : between(1n, 1_500n);
  while (tiers.length < count) {
    const before = tiers.at(-1);
    // A rate table may not have two tiers of the same single weight.
    const isPoint = oneIn(5) && !(before?.start === from && before.end === from);
    const end = isPoint ? from : from + between(1n, oneIn(2) ? 20_000n : widest);
    tiers.push({ start: from, end: end > MAX_LB ? MAX_LB : end, cents: randomFee(isHuge) });
    if (end >= MAX_LB) break;
    from = end + (oneIn(2) ? 0n : oneIn(2) ? 1n : between(2n, 3_000n));
    if (from >= MAX_LB) break;
  }
  return tiers;
}

function randomFee(isHuge: boolean): bigint {
  if (oneIn(20)) return 0n;
  if (isHuge) return oneIn(3) ? MAX_CENTS : between(1n, MAX_CENTS);
  return oneIn(10) ? 1n : between(1n, 10_000_000n);
}

/** Returns mostly weights at the bound of a tier or a thousandth beside it. */
function randomWeight(tiers: Tier[]): bigint {
  const tier = tiers[randomInt(tiers.length)];
  const bound = tier && (oneIn(2) ? tier.start : tier.end) + between(-1n, 1n);
  if (bound && bound > 0n && bound <= MAX_LB && !oneIn(3)) return bound;
  return between(1n, oneIn(2) ? 120_000n : MAX_LB);
}

const tierOf = (tiers: Tier[], weight: bigint) =>
  tiers.find(({ start, end }) => start <= weight && weight <= end);

// Stores tiers and rates through the API, as JSON numbers.

const post = async (path: string, body: object): Promise<Reply['body']> => {
  const reply = await service().request('POST', path, { as: 'admin', body });
  if (reply.status >= 300) throw new Error(`${path} returned ${reply.status}: ${JSON.stringify(reply.body)}`);
  return reply.body;
};

const insert = (table: string, rows: object[]) => {
  const columns = Object.keys(rows[0] ?? {}).join(', ');
  return service().owner.query(
    `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $1)`,
    [JSON.stringify(rows)],
  );
};

async function makeCase(round: number): Promise<Case> {
  const courierId = randomUUID();
  const own = { tenant_id: DEMO.tenants.demo };
  await insert('couriers', [{ ...own, id: courierId, code: courierId.slice(0, 8), name: courierId }]);
  const isHuge = round % 5 === 4;
  const tiers = randomTiers(round % 10 === 0 ? MAX_TIERS : randomInt(1, 10), isHuge);
  const rate = oneIn(10) ? 0n : between(1n, 1_000n);
  // Every third courier is billed by the default table, which each such case replaces.
  const owner = round % 3 === 0 ? {} : { courier_id: courierId };
  const rates = tiers.map(({ start, end, cents }) => ({
    startweight: Number(lb(start)),
    endweight: Number(lb(end)),
    fee: Number(usd(cents)),
  }));
  await post('/api/GetCourierRates.php', { action: 'save_rates', ...owner, rates });
  const air = { courier_id: courierId, air_freight_rate: Number(usd(rate)) };
  await post('/api/GetCourierRates.php', { action: 'update_air_freight', ...air });
  const parcels = await addParcels(courierId, tiers, round);
  return { courierId, tiers, parcels, rate, tax: randomTax(), isHuge };
}

const randomTax = () => (oneIn(5) ? 0n : oneIn(5) ? 100_000n : between(1n, 99_999n));

/** A third is on a manifest with an AWB number. The rest is on a manifest without one or on none. */
async function addParcels(courierId: string, tiers: Tier[], round: number): Promise<Parcel[]> {
  const own = { tenant_id: DEMO.tenants.demo, warehouse_id: DEMO.warehouses.primary };
  const manifests = [null, randomUUID(), randomUUID(), randomUUID()];
  await insert(
    'manifests',
    ['001-12345675', '', null].map((awb, n) => ({
      ...own,
      id: manifests[n + 1],
      awb_number: awb,
      manifest_number: `MAN-20240515-${String(round * 3 + n).padStart(4, '0')}`,
    })),
  );
  const parcels = Array.from({ length: PACKAGES_EACH }, (_, n) => ({
    id: randomUUID(),
    weight: randomWeight(tiers),
    place: randomInt(3) && randomInt(4),
    isFirstDay: n < FIRST_DAY_PACKAGES,
  }));
  await insert(
    'packages',
    parcels.map(({ id, weight, place, isFirstDay }, n) => ({
      ...own,
      id,
      courier_id: courierId,
      manifest_id: manifests[place],
      weight_lb: lb(weight),
      tracking_number: id,
      tracking_key: id,
      house_number: `O${round}-${n}`,
      received_at: isFirstDay ? `${FIRST_DAY}T23:59:59.999Z` : `${SECOND_DAY}T00:00:00Z`,
    })),
  );
  return parcels.map(({ place, ...parcel }) => ({ ...parcel, isAboard: place === 1 }));
}

// Expected amounts.

function amountsOwed({ tiers, rate }: Case, parcels: Parcel[]) {
  const fees = sum(parcels.map(({ weight }) => tierOf(tiers, weight)?.cents ?? 0n));
  const airLb = sum(parcels.filter(({ isAboard }) => isAboard).map(({ weight }) => weight));
  // Cents times thousandths of a pound.
  return { fees, airLb, air: divideRounded(rate * airLb, 1000n) };
}

async function checkPreview(testCase: Case): Promise<void> {
  const { courierId, tiers, parcels, rate } = testCase;
  const body = { courier_id: courierId, start_date: FIRST_DAY, end_date: SECOND_DAY };
  const { data } = await post('/api/GenerateCourierInvoice.php', body);
  const { fees, airLb, air } = amountsOwed(testCase, parcels);
  expect(data.summary).toEqual({
    total_packages: PACKAGES_EACH,
    total_weight: Number(lb(sum(parcels.map(({ weight }) => weight)))),
    total_fees: Number(usd(fees)),
    air_freight_rate: Number(usd(rate)),
    air_freight_weight: Number(lb(airLb)),
    total_air_freight: Number(usd(air)),
    grand_total: Number(usd(fees + air)),
  });
  type Billed = { package_id: string; weight: number; applied_fee: number };
  const billed = new Map<string, Billed>(data.packages.map((each: Billed) => [each.package_id, each]));
  const wrong = parcels.filter(({ id, weight }) => {
    const each = billed.get(id);
    const fee = tierOf(tiers, weight)?.cents ?? 0n;
    return each?.weight !== Number(lb(weight)) || each.applied_fee !== Number(usd(fee));
  });
  expect(wrong).toEqual([]);
  expect(billed.size).toBe(PACKAGES_EACH);
  expect(data.breakdown).toEqual(breakdownOf(testCase));
}

function breakdownOf({ tiers, parcels }: Case) {
  const counts = new Map<Tier, bigint>();
  for (const { weight } of parcels) {
    const tier = tierOf(tiers, weight);
    if (tier) counts.set(tier, (counts.get(tier) ?? 0n) + 1n);
  }
  const plain = (weight: bigint) => String(Number(lb(weight)));
  return tiers.flatMap((tier) => {
    const count = counts.get(tier);
    if (!count) return [];
    const line = { count: Number(count), rate: Number(usd(tier.cents)), subtotal: usd(tier.cents * count) };
    return [
      { ...line, range: `${plain(tier.start)}-${plain(tier.end)} lb`, subtotal: Number(line.subtotal) },
    ];
  });
}

async function checkBill(testCase: Case): Promise<void> {
  const { courierId, tiers, rate, tax, isHuge } = testCase;
  const parcels = testCase.parcels.filter(({ isFirstDay }) => isFirstDay || !isHuge);
  const { data: draft } = await post('/api/ManageCourierBills.php', {
    action: 'create_draft',
    courier_id: courierId,
    service_type: 'Air',
    tax_rate: Number(lb(tax)),
    start_date: FIRST_DAY,
    end_date: isHuge ? FIRST_DAY : SECOND_DAY,
  });
  const { fees, airLb, air } = amountsOwed(testCase, parcels);
  const subtotal = fees + air;
  // Cents times thousandths of a percent.
  const taxCents = divideRounded(subtotal * tax, 100_000n);
  expect(draft).toMatchObject({
    total_packages: parcels.length,
    subtotal: Number(usd(subtotal)),
    tax_amount: Number(usd(taxCents)),
    total_amount: Number(usd(subtotal + taxCents)),
  });
  const path = `/api/GetCourierBill.php?bill_id=${draft.bill_id}&limit=20000`;
  const { lines } = (await service().request('GET', path, { as: 'admin' })).body['data'];
  const expected = parcels.map(({ id, weight }) => [
    id,
    Number(lb(weight)),
    Number(usd(tierOf(tiers, weight)?.cents ?? 0n)),
  ]);
  type Line = { kind: string; package_id: string; weight: number; amount: number; rate: number };
  const shown = (kind: string) => (lines as Line[]).filter((line) => line.kind === kind);
  const byId = (a: unknown[], b: unknown[]) => String(a[0]).localeCompare(String(b[0]));
  expect(
    shown('package')
      .map((line) => [line.package_id, line.weight, line.amount])
      .sort(byId),
  ).toEqual(expected.sort(byId));
  const flown = airLb > 0n && rate > 0n ? [[Number(lb(airLb)), Number(usd(rate)), Number(usd(air))]] : [];
  expect(
    shown('air_freight')
      .map((line) => [line.weight, line.rate, line.amount])
      .filter(([, , amount]) => amount !== 0 || flown.length > 0),
  ).toEqual(flown);
  expect(shown('adjustment')).toEqual([]);
}

test(`previews and drafts of ${ROUNDS * PACKAGES_EACH} random packages under ${ROUNDS} random rate tables are exact to the cent and the thousandth`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const testCase = await makeCase(round);
    await checkPreview(testCase);
    await checkBill(testCase);
  }
}, 300_000);
