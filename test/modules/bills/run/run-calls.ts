import { DEMO } from '../../../../fixtures/demo/demo.js';
import type { BodyOf, DataOf } from '../../../../src/platform/contract/types.js';
import type { Billing } from '../../../support/builders/billing.js';
import type { Fixture } from '../../../support/fixture/with-service.js';

export const MONTH = '2024-05';

export type RunResult = DataOf<'manageBillingRun'>['results'][number];
type Extra = Partial<Pick<BodyOf<'manageBillingRun'>, 'courier_ids' | 'after'>>;
type SendExtra = Extra & { again?: boolean; language?: 'en' | 'es' };

/** Calls for billing runs of May 2024, the month of the packages of `addPackages`. */
export function makeRunCalls({ api, service }: Pick<Fixture, 'api' | 'service'>) {
  const draft = (extra: Extra = {}, as = 'manager') =>
    api
      .as(as)
      .manageBillingRun({ action: 'draft', month: MONTH, service_type: 'Air', tax_rate: 7, ...extra });
  const publish = (extra: Extra = {}, as = 'manager') =>
    api.as(as).manageBillingRun({ action: 'publish', month: MONTH, ...extra });

  const send = (extra: SendExtra = {}, as = 'manager') =>
    api.as(as).manageBillingRun({ action: 'send', month: MONTH, ...extra });

  /** Repeats a step until all couriers are done. Returns the results of each request. */
  async function untilDone(step: (extra: Extra) => ReturnType<typeof draft>): Promise<RunResult[][]> {
    const requests: RunResult[][] = [];
    for (let extra: Extra = {}; requests.length < 100;) {
      const { results, next_after: after } = (await step(extra).ok()).data;
      requests.push(results);
      if (after === null) return requests;
      extra = { after };
    }
    throw new Error('The run does not end.');
  }

  /** The courier's bills with the numbers of their packages. */
  async function billsOf(courierId: string) {
    const { rows } = await service().owner.query<{
      id: string;
      status: string;
      packages: number;
      usd: string;
    }>(
      `select id, status, total_packages as packages, total_amount::text as usd from bills
       where courier_id = $1 order by created_at, id`,
      [courierId],
    );
    return rows;
  }

  /** Plants drafts of one adjustment. */
  async function insertDrafts(courierId: string, many: number, endDate = '2024-05-31'): Promise<string[]> {
    const { rows } = await service().owner.query<{ id: string }>(
      `with drafted as (
         insert into bills (tenant_id, id, invoice_number, courier_id, service_type, start_date, end_date, total_packages,
           subtotal, tax_amount, total_amount)
         select $1, gen_random_uuid(), 'DRAFT-' || gen_random_uuid(), $2, 'Air', '2024-04-20', $4, 0, 5, 0, 5
         from generate_series(1, $3) returning tenant_id, id, courier_id),
       charged as (
         insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, description, amount_usd)
         select tenant_id, gen_random_uuid(), id, courier_id, 1, 'adjustment', 'Storage', 5 from drafted)
       select id from drafted`,
      [DEMO.tenants.demo, courierId, many, endDate],
    );
    return rows.map(({ id }) => id);
  }

  return { draft, publish, send, untilDone, billsOf, insertDrafts };
}

/** Creates couriers, each with so many packages of 5 lb (12.00 USD) in May 2024. Returns their ids in their order. */
export async function couriersWith(billing: Billing, packages: number[]): Promise<string[]> {
  const ids: string[] = [];
  for (const many of packages) {
    const courierId = await billing.newCourier();
    await billing.addPackages(
      courierId,
      Array.from({ length: many }, () => ({ weight: '5' })),
    );
    ids.push(courierId);
  }
  return ids;
}
