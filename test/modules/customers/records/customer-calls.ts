import { type Call, type Reply } from '../../../support/service/service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

export const UNKNOWN_ID = '01930a3e-0000-7000-8000-000000000000';

export const EDITORS = ['admin', 'manager', 'iex'];

let serial = 0;

export const newCode = () => `TEST-${(serial += 1)}`;

export type Customer = {
  courier_customer_id: string;
  user_code: string;
  first_name: string;
  last_name: string;
  branch: string | null;
  is_active: number;
  courier_id: string;
  courier_name: string;
  created_at: string;
  updated_at: string;
};

export const rowsOf = ({ body }: Reply) => body['data'] as Customer[];

/** Returns everything by which a caller could distinguish two rejections. */
export const distinguishable = ({ status, body }: Reply) => ({
  status,
  ...body,
  request_id: '',
  timestamp: 0,
});

/** A service, and the calls and stored rows for tests of single customers. */
export function withCustomers() {
  const fixture = withService();
  const { api, service } = fixture;
  const list = (query: NonNullable<Call['query']> = {}, as = 'admin') => api.as(as).listCustomers(query);
  const create = (body: Record<string, unknown>, as = 'iex') => api.as(as).createCustomer(unchecked(body));
  const update = (body: Record<string, unknown>, as = 'iex') => api.as(as).updateCustomer(unchecked(body));
  const remove = (call: Call, as = 'iex') => api.with({ as, ...call }).deleteCustomer();

  async function stored(id: string) {
    const { rows } = await service().owner.query('select * from customers where id = $1', [id]);
    return rows[0];
  }

  async function auditOf(id: string) {
    const { rows } = await service().owner.query(
      'select * from audit_entries where entity_id = $1 order by at, id',
      [id],
    );
    return rows;
  }

  async function auditEntries(): Promise<number> {
    const { rows } = await service().owner.query<{ n: number }>(
      'select count(*)::int as n from audit_entries',
    );
    return rows[0]?.n ?? 0;
  }

  async function makeOne(fields: Record<string, unknown> = {}, as = 'iex') {
    const user_code = newCode();
    const reply = await create({ user_code, first_name: 'First', last_name: 'Last', ...fields }, as).ok();
    return { courier_customer_id: reply.data.id, user_code };
  }

  /** Returns the tallies that differ from the counted rows. */
  async function wrongTallies(): Promise<object[]> {
    const { rows } = await service().owner.query(
      `with counted as (
         select tenant_id, courier_id, '' as branch, count(*)::int as n from customers group by 1, 2
         union all
         select tenant_id, courier_id, branch, count(*)::int from customers where branch is not null group by 1, 2, 3
       ), tallied as (
         select tenant_id, courier_id, branch, sum(total)::int as n from customer_tallies group by 1, 2, 3 having sum(total) <> 0
       )
       select * from counted full join tallied using (tenant_id, courier_id, branch, n) where counted is null or tallied is null`,
    );
    return rows;
  }

  return { ...fixture, list, create, update, remove, stored, auditOf, auditEntries, makeOne, wrongTallies };
}
