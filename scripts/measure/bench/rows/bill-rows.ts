import { previewStatements } from '../../../../src/modules/invoices/queries.js';
import { enterScope } from '../../../../src/platform/db/transactions/admission.js';
import type { BenchTenant } from '../../rig/tenants.js';
import {
  administrator,
  adminOf,
  callRow,
  filters,
  rateRow,
  statementsOf,
  templateOf,
  type Bench,
  type Row,
} from '../measure.js';
import { inline } from '../postgres.js';
import { digits } from '../../rig/scale.js';
import { fetchBytes, logIn } from '../../rig/service.js';

/** All packages of a bench tenant were received in this year. */
const today = () => new Date().toISOString().slice(0, 10);
const yearAgo = () => new Date(Date.now() - 364 * 86_400_000).toISOString().slice(0, 10);

/** An invoice preview for a year of one courier. */
export async function previewRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const period = { courierId: tenant.courierId, startDate: '2000-01-01', endDate: '2099-12-31' };
  const ask = await administrator(tenant);
  const body = { courier_id: period.courierId, start_date: period.startDate, end_date: period.endDate };
  const caller = await adminOf(tenant, bench.ownerUrl);
  const statements = [enterScope(caller), ...previewStatements({ ...filters, caller }, period)].map((each) =>
    inline(each),
  );
  const times = bench.scale.times(5);
  return callRow(bench, {
    name: `invoice preview, ${linesOf(tenant)}`,
    call: () => ask('POST', '/api/GenerateCourierInvoice.php', body),
    times,
    against: statementsOf(bench, statements, times),
    bare: 'bareCopyMs',
  });
}

/** A draft of all packages of one courier. */
export async function draftRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const bills = await billManager(tenant);
  let billId = '';
  return callRow(bench, {
    name: `bill draft, ${linesOf(tenant)}`,
    call: async () => (billId = await bills.create()),
    undo: () => bills.remove(billId),
    bare: 'bareCopyMs',
  });
}

/** The first page of a draft. */
export const billPageRow = (bench: Bench, tenant: BenchTenant): Promise<Row> =>
  withDraft(tenant, async (billId) => {
    const call = { method: 'GET', path: `/api/GetCourierBill.php?bill_id=${billId}` };
    const template = await templateOf(tenant, call);
    return rateRow(bench, { name: `bill page, ${linesOf(tenant)}`, template, bare: 'bareSelectMs' });
  });

/** A draft as PDF. */
export const billPdfRow = (bench: Bench, tenant: BenchTenant): Promise<Row> =>
  withDraft(tenant, async (billId) => {
    const headers = { authorization: `Bearer ${await logIn(tenant.host)}` };
    const path = `/api/DownloadCourierBill.php?bill_id=${billId}&format=pdf`;
    const call = () => fetchBytes({ method: 'GET', path, host: tenant.host, headers });
    await call();
    return callRow(bench, { name: `bill as PDF, ${linesOf(tenant)}`, call, bare: 'bareCopyMs' });
  });

const linesOf = ({ size }: BenchTenant) => `${digits(size / 10)} packages`;

/** A year's statement of one courier. */
export async function statementRow(bench: Bench, { courierId, ...tenant }: BenchTenant): Promise<Row> {
  const path = `/api/CourierStatement.php?courier_id=${courierId}&from=${yearAgo()}&to=${today()}`;
  const template = await templateOf(tenant, { method: 'GET', path });
  return rateRow(bench, { name: 'statement of a courier', template, bare: 'bareSelectMs' });
}

/** A year's reconciliation of one courier. */
export async function reconciliationRow(bench: Bench, tenant: BenchTenant): Promise<Row> {
  const ask = await administrator(tenant);
  const path = `/api/BillingReconciliation.php?courier_id=${tenant.courierId}&from=${yearAgo()}&to=${today()}`;
  const call = () => ask('GET', path);
  await call();
  return callRow(bench, { name: `reconciliation, ${linesOf(tenant)}`, call, bare: 'bareCopyMs' });
}

async function withDraft(tenant: BenchTenant, measure: (billId: string) => Promise<Row>): Promise<Row> {
  const bills = await billManager(tenant);
  const billId = await bills.create();
  try {
    return await measure(billId);
  } finally {
    await bills.remove(billId);
  }
}

/** Creates and deletes drafts of all packages of a courier. A run that was interrupted may have left one; it is deleted first. */
async function billManager(tenant: BenchTenant) {
  const ask = await administrator(tenant);
  const { courierId } = tenant;
  const period = { courier_id: courierId, start_date: yearAgo(), end_date: today(), service_type: 'Air' };
  const bills = {
    async create(): Promise<string> {
      const reply = await ask('POST', '/api/ManageCourierBills.php', { action: 'create_draft', ...period });
      // The contract defines this response.
      return (reply['data'] as { bill_id: string }).bill_id;
    },
    remove: (billId: string) =>
      ask('POST', '/api/ManageCourierBills.php', { action: 'delete_draft', bill_id: billId }),
  };
  const left = await ask('GET', `/api/LoadCourierBills.php?courier_id=${courierId}&status=draft`);
  for (const { bill_id } of left['data'] as { bill_id: string }[]) await bills.remove(bill_id);
  return bills;
}
