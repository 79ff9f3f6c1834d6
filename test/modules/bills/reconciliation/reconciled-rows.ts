import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { insertBill, type InsertedBill } from '../../../support/builders/bills.js';
import { clone, freshNumber } from '../../../support/builders/couriers.js';
import { unchecked } from '../../../support/fixture/sent.js';
import type { Fixture } from '../../../support/fixture/with-service.js';

export const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

export const MAY = { from: '2024-05-01', to: '2024-05-31' };

const MAY_BILL = { start: '2024-05-01', end: '2024-05-31' };

export const NO_REASONS = {
  owner_unknown: 0,
  not_billed: 0,
  left_out: 0,
  no_tier: 0,
  weight_changed: 0,
  courier_changed: 0,
  fee_changed: 0,
  outside_period: 0,
};

export type Query = Record<string, string | number>;

export type Exception = { package_id: string; reasons: string[] } & Record<string, unknown>;

export type Check = { check: string; expected: number; found: number; differing: number; ties: boolean };

export const PUBLISHED = { publishedAt: '2024-06-01T10:00:00Z' };

/** Calls and planted rows for tests of the reconciliation. */
export function makeReconciliation({ api, service }: Fixture) {
  const reconcile = (query: Query, as = 'admin') => api.as(as).getBillingReconciliation(unchecked(query));

  /** Creates a courier with a fee of 5.00 up to 10 lb and 12.50 up to 50 lb. */
  async function newCourier(name = 'Courier'): Promise<string> {
    const id = randomUUID();
    const { owner } = service();
    await owner.query('insert into couriers (tenant_id, id, code, name) values ($1, $2, $3, $4)', [
      DEMO.tenants.demo,
      id,
      id.slice(0, 8),
      `${name} ${id}`,
    ]);
    await owner.query(
      `insert into rate_tiers (tenant_id, courier_id, start_weight_lb, end_weight_lb, fee_usd)
     values ($1, $2, 0, 10, 5), ($1, $2, 10, 50, 12.5)`,
      [DEMO.tenants.demo, id],
    );
    return id;
  }

  const receive = (courierId: string | null, weight: string, receivedAt = '2024-05-15T12:00:00Z') => {
    const number = freshNumber();
    return clone(service().owner, 'packages', DEMO.packages.available.IEX[0] ?? '', {
      courier_id: courierId,
      weight_lb: weight,
      received_at: receivedAt,
      user_code: null,
      tracking_number: number,
      tracking_key: number,
      house_number: number,
      prealert_id: null,
    });
  };

  const bill = (courierId: string, rest: Partial<InsertedBill>) =>
    insertBill(service().owner, { courierId, ...MAY_BILL, ...rest });

  const change = (table: string, id: string, set: string) =>
    service().owner.query(`update ${table} set ${set} where id = $1`, [id]);

  return { reconcile, newCourier, receive, bill, change };
}
