import type { Schema } from '../../src/platform/contract/bundle.js';
import type { OperationId } from '../../src/platform/contract/types.js';
import { mostPrivilegedCaller, inputs } from '../support/builders/inputs.js';
import { DEMO } from '../../fixtures/demo/demo.js';
import { lastYear } from '../support/builders/bills.js';
import { readExportedPackages } from '../support/readers/exported-packages.js';
import { describeOperation, operationIds, operationOf, type Body } from '../support/service/contract.js';
import type { Call, Reply, Service } from '../support/service/service.js';

export type Values = Record<string, string | number | boolean | string[]>;

/** An operation that returns records in pages or up to a limit. */
export type List = {
  id: OperationId;
  /** Parameters other than paging and sorting. */
  filters: string[];
  sorts: string[];
  maxLimit: number;
  hasPages: boolean;
  maxPage: number;
  /** Whether it returns the records as a file. */
  isFile: boolean;
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
    // An enum of strings lists the allowed values.
    sorts: (named('sort_by')?.['enum'] ?? []) as string[],
    maxLimit: Number(limit['maximum']),
    hasPages: named('page') !== undefined,
    maxPage: Number(named('page')?.['maximum'] ?? 1),
    isFile: !('application/json' in (describeOperation(id).responses['200']?.content ?? {})),
  };
});

export function listOf(id: OperationId): List {
  const list = lists.find((each) => each.id === id);
  if (!list) throw new Error(`${id} is not a list.`);
  return list;
}

/** Required parameters of the lists. */
const REQUIRED_PARAMS: Partial<Record<OperationId, Values>> = {
  searchCustomers: { q: 'smith' },
  listEvents: { courier_id: DEMO.couriers.IEX },
  getCourierBill: { bill_id: DEMO.bills.published },
  listBillMails: { bill_id: DEMO.bills.published },
  getCourierStatement: { courier_id: DEMO.couriers.IEX, from: '2020-01-01', to: '2100-01-01' },
  getBillingReconciliation: lastYear(),
  listBillingRun: { month: '2024-05' },
  getManifestLoading: { manifest_id: DEMO.manifests.draft, list: 'expected' },
};

/** The property of `data` that contains the records, where `data` is not the array itself. */
const RECORDS_KEY: Partial<Record<OperationId, string>> = {
  getCourierBill: 'lines',
  getCourierStatement: 'movements',
  getManifestLoading: 'parcels',
  getBillingReconciliation: 'exceptions',
};

export const recordsIn = (id: OperationId, { body }: Reply): Body[] => {
  if (listOf(id).isFile) return readExportedPackages(body['bytes']);
  const name = RECORDS_KEY[id];
  return name ? body['data'][name] : body['data'];
};

export function requestList(service: Service, id: OperationId, values: Values): Promise<Reply> {
  const { method } = operationOf(id);
  const all = { ...REQUIRED_PARAMS[id], ...values };
  const call: Call = method === 'GET' ? { query: all } : { body: all };
  return service.call(id, { ...mostPrivilegedCaller(id), ...call });
}

/** Reads all records that the values select, page by page. */
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
    const reply = await requestList(service, id, { ...values, limit: size, ...next });
    if (reply.status !== 200)
      throw new Error(`${id} returned ${reply.status}: ${JSON.stringify(reply.body)}`);
    const found = recordsIn(id, reply);
    records.push(...found);
    const meta = (reply.body['meta'] ?? {}) as Body;
    if (hasPages && found.length === size) next = { page: page + 1 };
    else if (typeof meta['next_before'] === 'string') next = { before: meta['next_before'] };
    else if (meta['has_more'] === true) next = { after: Number(meta['next_after']) };
    else return records;
  }
}
