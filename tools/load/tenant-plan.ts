import { person } from '../../fixtures/demo/values/names.js';
import { cycle } from '../../fixtures/demo/values/seeded-random.js';
import { COURIERS, OPERATORS, type Country, type Operator } from './values/catalogue.js';
import { loadRandom, type LoadRandom } from './values/random.js';
import { DAY_MS } from './values/time.js';

export type LoadOptions = {
  tenants: number;
  days: number;
  /** Of each tenant, on a mean day of a year. */
  parcelsPerDay: number;
  seed: number;
  /** The last moment, the end of a day. */
  endMs: number;
};

export type PlannedCustomer = {
  userCode: string;
  firstName: string;
  lastName: string;
  email: string;
  branch: string;
};

export type PlannedCourier = {
  id: string;
  name: string;
  code: string;
  country: Country;
  /** Its share of the tenant's parcels. All shares together are 1. */
  share: number;
  customers: PlannedCustomer[];
  /** What it gets; couriers without a system of their own get nothing. */
  webhooks: 'event' | 'flat' | null;
  userId: string;
};

type PlannedStaff = { admin: string; manager: string; warehouse: string; evening: string };

/** Who and what a tenant consists of, before any traffic. */
export type TenantPlan = {
  id: string;
  slug: string;
  operator: Operator;
  random: LoadRandom;
  startMs: number;
  endMs: number;
  /** When its master data were entered. */
  openedMs: number;
  parcelsPerDay: number;
  warehouses: [primary: string, second: string];
  staff: PlannedStaff;
  couriers: PlannedCourier[];
};

export const MAX_TENANTS = 100;
const COURIERS_PER_TENANT = 10;
const CUSTOMERS_PER_DAILY_PARCEL = 12;
const FEWEST_CUSTOMERS = 12;
const DAYS_BEFORE = 200;

/** Tenants do not depend on each other: a load with more tenants has the same first ones. */
export function planTenant(options: LoadOptions, index: number): TenantPlan {
  const { days, seed, endMs, parcelsPerDay } = options;
  const random = loadRandom(seed * 1_000 + index);
  const startMs = endMs - days * DAY_MS;
  const openedMs = startMs - DAYS_BEFORE * DAY_MS;
  const operator = cycle(OPERATORS, index);
  const round = Math.floor(index / OPERATORS.length);
  const id = () => random.id(openedMs);
  return {
    id: id(),
    slug: round === 0 ? operator.slug : `${operator.slug}-${round + 1}`,
    operator,
    random,
    ...{ startMs, endMs, openedMs, parcelsPerDay },
    warehouses: [id(), id()],
    staff: { admin: id(), manager: id(), warehouse: id(), evening: id() },
    couriers: planCouriers(random, index, { openedMs, parcelsPerDay }),
  };
}

type Size = Pick<TenantPlan, 'openedMs' | 'parcelsPerDay'>;

/** Couriers of very different sizes, by Zipf's law: the first has a third of the parcels, the last a thirtieth. */
function planCouriers(
  random: LoadRandom,
  index: number,
  { openedMs, parcelsPerDay }: Size,
): PlannedCourier[] {
  const weights = Array.from({ length: COURIERS_PER_TENANT }, (_, n) => 1 / (n + 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight, n) => {
    const [name, code, country] = cycle(COURIERS, index * 5 + n);
    const share = weight / total;
    const count = Math.max(FEWEST_CUSTOMERS, Math.round(share * parcelsPerDay * CUSTOMERS_PER_DAILY_PARCEL));
    const firstPerson = random.whole(0, 4_000);
    return {
      ...{ id: random.id(openedMs), userId: random.id(openedMs), name, code, country, share },
      webhooks: (['event', 'flat', null] as const)[n % 3] ?? null,
      customers: Array.from({ length: count }, (_, k) => {
        const { firstName, lastName, email } = person(firstPerson + k);
        const branch = random.pick(country.towns);
        return { userCode: `${code}-${1_001 + k}`, firstName, lastName, email, branch };
      }),
    };
  });
}
