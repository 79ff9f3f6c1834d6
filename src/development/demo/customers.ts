import { daysBefore } from './values/calendar.js';
import { type CourierCode, DEMO } from './demo.js';
import { cycle } from './values/seeded-random.js';
import { demoId, type TenantSlug } from './values/ids.js';
import { person, type Person } from './values/names.js';
import type { Row } from './values/rows.js';

export type Customer = Person & { userCode: string };

type CustomerPlan = {
  tenant: TenantSlug;
  count: number;
  firstCode: number;
  /** The index of the courier's first customer in the list of people. */
  peopleFrom: number;
  /** The number of the courier's first customer within the tenant. */
  idsFrom: number;
  branches: string[];
};

const CUSTOMER_PLANS: Record<CourierCode, CustomerPlan> = {
  IEX: {
    tenant: 'demo',
    count: 200,
    firstCode: 1001,
    peopleFrom: 0,
    idsFrom: 1,
    branches: ['Kingston', 'Montego Bay', 'Mandeville', 'Portmore', 'Ocho Rios', 'May Pen'],
  },
  HRB: {
    tenant: 'demo',
    count: 100,
    firstCode: 2001,
    peopleFrom: 200,
    idsFrom: 201,
    branches: ['Bridgetown', 'Port of Spain', 'Castries', 'San Fernando', "St. George's"],
  },
  TWO: {
    tenant: 'two',
    count: 5,
    firstCode: 3001,
    peopleFrom: 300,
    idsFrom: 1,
    branches: ['Georgetown', 'Linden', 'New Amsterdam'],
  },
};

/** The n-th customer of a courier, counted from 1. */
export function customer(courier: CourierCode, n: number): Customer {
  const { firstCode, peopleFrom } = CUSTOMER_PLANS[courier];
  return { ...person(peopleFrom + n - 1), userCode: `${courier}-${firstCode + n - 1}` };
}

/** Returns the number of active customers of a courier: all but the last. */
export function activeCount(courier: CourierCode): number {
  return CUSTOMER_PLANS[courier].count - 1;
}

/** All customers of a courier. A few have no branch or no e-mail address; the last is inactive. */
export function customerRows(courier: CourierCode, now: Date): Row[] {
  const { tenant, count, idsFrom, branches } = CUSTOMER_PLANS[courier];
  return Array.from({ length: count }, (_, index) => {
    const { userCode, firstName, lastName, email } = customer(courier, index + 1);
    const createdAt = daysBefore(now, 61 + ((index * 37) % 340), 600 + ((index * 53) % 600));
    return {
      tenant_id: DEMO.tenants[tenant],
      id: demoId(tenant, 'customer', idsFrom + index),
      courier_id: DEMO.couriers[courier],
      user_code: userCode,
      first_name: firstName,
      last_name: lastName,
      branch: index % 15 === 14 ? null : cycle(branches, index),
      email: index % 12 === 11 ? null : email,
      is_active: index + 1 < count,
      created_at: createdAt,
      updated_at: createdAt,
    };
  });
}
