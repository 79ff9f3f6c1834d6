import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { unchecked } from '../../support/fixture/sent.js';
import type { Fixture } from '../../support/fixture/with-service.js';

const { IEX, HRB, TWO } = DEMO.couriers;

type Planted = {
  tenant: string;
  courier: string;
  status: string;
  start: string;
  end: string;
  createdAt: string;
};

/** Bills of each status for two couriers and another tenant. The demo data has bills of one courier only. */
const PLANTED: (Planted & { id: string })[] = [
  [DEMO.tenants.demo, HRB, 'draft', '2025-01-01', '2025-01-31', '2025-02-01 10:00:00Z'],
  [DEMO.tenants.demo, HRB, 'published', '2025-02-01', '2025-02-28', '2025-03-01 10:00:00Z'],
  [DEMO.tenants.demo, HRB, 'paid', '2025-03-01', '2025-03-31', '2025-04-01 10:00:00Z'],
  // Both share a timestamp, so that the id breaks the tie.
  [DEMO.tenants.demo, IEX, 'published', '2025-02-01', '2025-02-28', '2025-03-01 10:00:00Z'],
  [DEMO.tenants.demo, IEX, 'draft', '2025-03-01', '2025-03-31', '2025-03-01 10:00:00Z'],
  [DEMO.tenants.two, TWO, 'draft', '2025-02-01', '2025-02-28', '2025-03-01 10:00:00Z'],
  [DEMO.tenants.two, TWO, 'published', '2025-02-01', '2025-02-28', '2025-03-02 10:00:00Z'],
].map(([tenant = '', courier = '', status = '', start = '', end = '', createdAt = '']) => ({
  id: randomUUID(),
  tenant,
  courier,
  status,
  start,
  end,
  createdAt,
}));

export const idsOf = ({ data }: { data: { bill_id: string }[] }): string[] =>
  data.map(({ bill_id }) => bill_id);

/** Calls and planted rows for tests of lists of bills. */
export function makeBillList({ api, db }: Fixture) {
  async function insertRows(): Promise<void> {
    for (const { id, tenant, courier, status, start, end, createdAt } of PLANTED) {
      await db.query(
        `insert into bills (tenant_id, id, invoice_number, courier_id, service_type, start_date, end_date, total_packages,
           subtotal, tax_amount, total_amount, paid_amount, status, created_at)
         values ($1, $2, $3, $4, 'Air standard', $5, $6, 3, 10.10, 0.20, 10.30, $7, $8, $9)`,
        [tenant, id, id, courier, start, end, status === 'paid' ? '10.30' : '0', status, createdAt],
      );
    }
  }

  /** Returns the ids of the tenant's bills, newest first. */
  async function expectedIds(condition: string, tenant: string = DEMO.tenants.demo): Promise<string[]> {
    const rows = await db.query<{ id: string }>(
      `select id from bills where tenant_id = $1 and ${condition} order by created_at desc, id desc`,
      [tenant],
    );
    return rows.map(({ id }) => id);
  }

  const load = (as: string, query: object = {}) => api.as(as).listCourierBills(unchecked(query));

  return { insertRows, expectedIds, load };
}
