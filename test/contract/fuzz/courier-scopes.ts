import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { readPools } from './pools.js';
import type { CourierScope } from './requests.js';

/** Returns the demo's three couriers, each with its callers and its records. */
export async function makeCourierScopes(owner: pg.Pool): Promise<CourierScope[]> {
  const poolsOf = (courierId: string) => readPools(owner, courierId);
  const staff = ['admin', 'manager', 'warehouse'] as const;
  return [
    {
      callers: { token: [...staff, 'iex', 'iex'], key: ['key IEX'], none: ['nobody'] },
      pools: await poolsOf(DEMO.couriers.IEX),
    },
    {
      callers: { token: [...staff, 'hrb', 'hrb'], key: ['key HRB'], none: ['nobody'] },
      pools: await poolsOf(DEMO.couriers.HRB),
    },
    {
      callers: { token: ['two/admin', 'two/two'], key: ['key TWO'], none: ['nobody'] },
      pools: await poolsOf(DEMO.couriers.TWO),
    },
  ];
}
