import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertBill, type InsertedBill } from '../../support/builders/bills.js';
import { unchecked } from '../../support/fixture/sent.js';
import type { Fixture } from '../../support/fixture/with-service.js';

export const ALWAYS = { from: '2000-01-01', to: '2100-01-01' };

type Query = Record<string, string | number>;
export type Movement = {
  date: string;
  kind: string;
  amount: number;
  balance: number;
  payment_id: string | null;
};

/** Calls for statements, and couriers and bills that appear in them. */
export function makeStatementCalls({ api, service }: Fixture) {
  const read = (as: string, query: Query) => api.as(as).getCourierStatement(unchecked(query));

  async function newCourier(): Promise<string> {
    const id = randomUUID();
    await service().owner.query('insert into couriers (tenant_id, id, code, name) values ($1, $2, $3, $4)', [
      DEMO.tenants.demo,
      id,
      id.slice(0, 8),
      `Courier ${id}`,
    ]);
    return id;
  }

  const insertRows = (courierId: string, bill: Omit<InsertedBill, 'courierId' | 'start' | 'end'>) =>
    insertBill(service().owner, { courierId, start: '2024-01-01', end: '2024-01-31', ...bill });

  return { read, newCourier, insertRows };
}
