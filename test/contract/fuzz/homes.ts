import type pg from 'pg';
import { DEMO } from '../../../src/development/demo/demo.js';
import { readPools } from './pools.js';
import type { Home } from './requests.js';

/** The demo's three couriers, with what each owns. */
export async function makeHomes(owner: pg.Pool): Promise<Home[]> {
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
