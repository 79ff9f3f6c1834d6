import { checkCharacter } from '../../src/modules/packages/intake/house-number.js';
import { trackingKey } from '../../src/modules/tracking-numbers/tracking-key.js';
import { CARRIERS } from '../../fixtures/reference/companies.js';
import { scannedNumber, shortNumber } from '../../fixtures/reference/tracking-numbers.js';
import type { Flight } from './flights.js';
import { stepsOf, type Step } from './steps.js';
import type { PlannedCourier, PlannedCustomer, TenantPlan } from './tenant-plan.js';
import { contentsOf, type Contents } from './values/parcel.js';
import { busynessOf, DAY_MS, HOUR_MS } from './values/time.js';

export type Prealert = {
  id: string;
  courier: PlannedCourier;
  userCode: string;
  trackingNumber: string;
  contents: Contents;
  status: 'pending' | 'received' | 'flagged';
  createdMs: number;
  updatedMs: number;
};

export type Parcel = {
  id: string;
  courier: PlannedCourier | null;
  customer: PlannedCustomer | null;
  trackingNumber: string;
  houseNumber: string;
  carrier: number;
  warehouseId: string;
  contents: Contents;
  receivedMs: number;
  prealertId: string | null;
  flight: Flight | null;
  /** In order. The last one is the current status. */
  steps: Step[];
};

export type Traffic = { parcels: Parcel[]; prealerts: Prealert[] };

// In percent.
const ANNOUNCED = 72;
const WITHOUT_COURIER = 2.5;
const WITHOUT_CUSTOMER = 2;
const ANNOUNCED_TWICE = 25;
const IN_SECOND_WAREHOUSE = 12;
const NEVER_ARRIVES = 2;

/** All parcels of a tenant in the order of their arrival, and all announcements. */
export function planTraffic(plan: TenantPlan, flights: Flight[]): Traffic {
  const { startMs, endMs, parcelsPerDay, random } = plan;
  const traffic: Traffic = { parcels: [], prealerts: [] };
  const numbers = makeNumbers(plan);
  for (let dayMs = startMs; dayMs < endMs; dayMs += DAY_MS) {
    const noise = random.whole(88, 112) / 100;
    const count = Math.round(parcelsPerDay * busynessOf(dayMs) * noise);
    const arrivals = Array.from({ length: count }, () => dayMs + arrivalOf(plan)).sort((a, b) => a - b);
    for (const receivedMs of arrivals) addParcel(plan, traffic, { flights, numbers, receivedMs });
  }
  addPending(plan, traffic, numbers);
  return traffic;
}

/** Between 8 and 18 hours, mostly in the morning, when the carriers' trucks come. */
const arrivalOf = ({ random }: TenantPlan) =>
  8 * HOUR_MS + Math.min(random.whole(0, 10 * 3_600), random.whole(0, 10 * 3_600)) * 1_000;

type Numbers = ReturnType<typeof makeNumbers>;

/** Numbers of parcels are unique within a tenant. */
function makeNumbers({ random }: TenantPlan) {
  const used = new Set<string>();
  const unique = <Value>(make: () => Value, keyOf: (value: Value) => string): Value => {
    for (;;) {
      const value = make();
      const key = keyOf(value);
      if (used.has(key)) continue;
      used.add(key);
      return value;
    }
  };
  const letters = [...'23456789ABCDEFGHJKMNPQRSTUVWXYZ'];
  const serial = () => Array.from({ length: 6 }, () => random.pick(letters)).join('');
  return {
    house: () =>
      unique(
        () => withCheck(serial()),
        (number) => `house ${number}`,
      ),
    tracking: () =>
      unique(
        () => {
          const carrier = random.whole(0, CARRIERS.length - 1);
          const name = CARRIERS[carrier] ?? 'USPS';
          const short = shortNumber(name, random);
          return { carrier, short, scanned: scannedNumber(name, short, random) };
        },
        ({ scanned }) => trackingKey(scanned),
      ),
  };
}

const withCheck = (serial: string) => serial + checkCharacter(serial);

function courierOf({ random, couriers }: TenantPlan): PlannedCourier | undefined {
  let rest = random.whole(0, 999_999) / 1_000_000;
  return couriers.find(({ share }) => (rest -= share) < 0) ?? couriers[0];
}

type Arrival = { flights: Flight[]; numbers: Numbers; receivedMs: number };

function addParcel(plan: TenantPlan, traffic: Traffic, { flights, numbers, receivedMs }: Arrival): void {
  const { random } = plan;
  const contents = contentsOf(random);
  const { carrier, short, scanned } = numbers.tracking();
  const courier = random.isOne(WITHOUT_COURIER) ? null : (courierOf(plan) ?? null);
  const customer = courier && !random.isOne(WITHOUT_CUSTOMER) ? random.pick(courier.customers) : null;
  const warehouseId = plan.warehouses[random.isOne(IN_SECOND_WAREHOUSE) ? 1 : 0];
  const announce = (announcer: PlannedCourier, userCode: string, status: Prealert['status']) => {
    const createdMs = Math.max(plan.startMs, receivedMs - random.whole(1, 6 * 24) * HOUR_MS);
    const prealert = { courier: announcer, userCode, trackingNumber: short, contents, status };
    const id = random.id(createdMs);
    traffic.prealerts.push({ id, ...prealert, createdMs, updatedMs: receivedMs });
    return id;
  };
  const isAnnounced = courier && customer && random.isOne(ANNOUNCED);
  const prealertId = isAnnounced ? announce(courier, customer.userCode, 'received') : null;
  // Two couriers announced the same number, so the warehouse does not know whose the parcel is.
  if (!courier && random.isOne(ANNOUNCED_TWICE))
    for (const announcer of plan.couriers.slice(0, 2))
      announce(announcer, random.pick(announcer.customers).userCode, 'flagged');
  const boarding = customer
    ? (flights.find((each) => canBoard(each, warehouseId, receivedMs)) ?? null)
    : null;
  const { flight, steps } = stepsOf(plan, receivedMs, boarding);
  traffic.parcels.push({
    ...{
      id: random.id(receivedMs),
      courier,
      customer,
      trackingNumber: scanned,
      houseNumber: numbers.house(),
    },
    ...{ carrier, warehouseId, contents, receivedMs, prealertId, flight, steps },
  });
}

const canBoard = ({ warehouseId, createdMs }: Flight, parcelWarehouse: string, receivedMs: number) =>
  warehouseId === parcelWarehouse && createdMs > receivedMs;

/** Parcels that are on their way at the end, and the few of all days that never come. */
function addPending(plan: TenantPlan, { prealerts }: Traffic, numbers: Numbers): void {
  const { random, startMs, endMs, parcelsPerDay } = plan;
  const days = (endMs - startMs) / DAY_MS;
  const add = (createdMs: number) => {
    const courier = courierOf(plan);
    if (!courier) return;
    const { userCode } = random.pick(courier.customers);
    const { short: trackingNumber } = numbers.tracking();
    const contents = contentsOf(random);
    const id = random.id(createdMs);
    prealerts.push({
      id,
      courier,
      userCode,
      trackingNumber,
      contents,
      status: 'pending',
      createdMs,
      updatedMs: createdMs,
    });
  };
  const between = (fromMs: number) =>
    fromMs + random.whole(0, Math.floor((endMs - fromMs) / 1_000) - 1) * 1_000;
  for (let n = 0; n < parcelsPerDay * 2; n += 1) add(between(Math.max(startMs, endMs - 4 * DAY_MS)));
  for (let n = 0; n < (parcelsPerDay * days * NEVER_ARRIVES) / 100; n += 1) add(between(startMs));
}
