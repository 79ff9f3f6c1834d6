import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { readPools } from './pools.js';
import type { CourierScope, FuzzCaller } from './requests.js';

/** Returns the demo's three couriers, each with its callers and its records. */
export async function makeCourierScopes(owner: pg.Pool): Promise<CourierScope[]> {
  const poolsOf = (courierId: string) => readPools(owner, courierId);
  const staff = ['admin', 'manager', 'warehouse'] as const;
  const tokens = (own: FuzzCaller): FuzzCaller[] => [own, 'token of the staff'];
  return [
    {
      callers: {
        token: [...staff, 'iex', 'iex', ...tokens('token of IEX')],
        key: ['key IEX', 'token of IEX'],
        none: ['nobody'],
      },
      pools: await poolsOf(DEMO.couriers.IEX),
    },
    {
      callers: {
        token: [...staff, 'hrb', 'hrb', ...tokens('token of HRB')],
        key: ['key HRB', 'token of HRB'],
        none: ['nobody'],
      },
      pools: await poolsOf(DEMO.couriers.HRB),
    },
    {
      callers: {
        token: ['two/admin', 'two/two', 'token of TWO'],
        key: ['key TWO', 'token of TWO'],
        none: ['nobody'],
      },
      pools: await poolsOf(DEMO.couriers.TWO),
    },
  ];
}
