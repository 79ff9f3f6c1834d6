import type { Schema } from '../../src/platform/contract/bundle.js';
import type { OperationId } from '../../src/platform/contract/types.js';
import { ablest, inputs } from '../support/builders/inputs.js';
import { DEMO } from '../../src/development/demo/demo.js';
import { lastYear } from '../support/builders/bills.js';
import { operationIds, operationOf, type Body } from '../support/service/contract.js';
import type { Call, Reply, Service } from '../support/service/service.js';

export type Values = Record<string, string | number | boolean>;

/** An operation that answers with records a page at a time, or as many as asked for. */
export type List = {
  id: OperationId;
  /** What it takes beside the page and the order. */
  filters: string[];
  sorts: string[];
  maxLimit: number;
  hasPages: boolean;
};

const PAGING = ['page', 'before', 'after', 'limit', 'sort_by', 'sort_dir'];

export const lists: List[] = operationIds.flatMap((id) => {
  const own = inputs.filter((input) => input.id === id && !input.field.includes('[]'));
  const named = (name: string): Schema | undefined => own.find(({ field }) => field === name)?.schema;
  const limit = named('limit');
  if (!limit) return [];
  return {
    id,
    filters: own.map(({ field }) => field).filter((field) => !PAGING.includes(field)),
    // as: an enum lists what it allows
    sorts: (named('sort_by')?.['enum'] ?? []) as string[],
    maxLimit: Number(limit['maximum']),
    hasPages: named('page') !== undefined,
  };
});

export function listOf(id: OperationId): List {
  const list = lists.find((each) => each.id === id);
  if (!list) throw new Error(`${id} is no list.`);
  return list;
}

/** What a list cannot be asked without. */
const ALWAYS: Partial<Record<OperationId, Values>> = {
  searchCustomers: { q: 'smith' },
  readEvents: { courier_id: DEMO.couriers.IEX },
  getCourierBill: { bill_id: DEMO.bills.published },
  courierStatement: { courier_id: DEMO.couriers.IEX, from: '2020-01-01', to: '2100-01-01' },
  billingReconciliation: lastYear(),
};

/** Where `data` is not the list itself but has it. */
const LISTED_AS: Partial<Record<OperationId, string>> = {
  getCourierBill: 'lines',
  courierStatement: 'movements',
  billingReconciliation: 'exceptions',
};

export const recordsIn = (id: OperationId, { body }: Reply): Body[] => {
  const name = LISTED_AS[id];
  return name ? body['data'][name] : body['data'];
};

export function ask(service: Service, id: OperationId, values: Values): Promise<Reply> {
  const { method } = operationOf(id);
  const all = { ...ALWAYS[id], ...values };
  const call: Call = method === 'GET' ? { query: all } : { body: all };
  return service.call(id, { ...ablest(id), ...call });
}

/** All records that the values select, a page after the other. */
export async function readAll(
  service: Service,
  id: OperationId,
  values: Values,
  limit?: number,
): Promise<Body[]> {
  const { hasPages, maxLimit } = listOf(id);
  const records: Body[] = [];
  const size = limit ?? maxLimit;
  for (let page = 1, next: Values = hasPages ? { page } : {}; ; page += 1) {
    const reply = await ask(service, id, { ...values, limit: size, ...next });
    if (reply.status !== 200)
      throw new Error(`${id} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    const found = recordsIn(id, reply);
    records.push(...found);
    const meta = (reply.body['meta'] ?? {}) as Body;
    if (hasPages && found.length === size) next = { page: page + 1 };
    else if (typeof meta['next_before'] === 'string') next = { before: meta['next_before'] };
    else if (meta['has_more'] === true) next = { after: Number(meta['next_after']) };
    else return records;
  }
}
