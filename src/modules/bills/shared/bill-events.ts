import type { components } from '../../../../generated/contract.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { Scope, Tx } from '../../../platform/db/scope.js';
import { once, type Sql } from '../../../platform/db/statements.js';
import { currencyOf } from '../../tenant-settings/public.js';
import { emitRecordEvents } from '../../webhooks/public.js';
import { dueDateOfPublished } from './bill-row.js';

type Schemas = components['schemas'];
type BillEventType = Extract<Schemas['CourierEvent']['type'], `bill.${string}`>;

/** Emits an event for each published bill whose courier has chosen the type, in the order of the ids. Call it after the change. */
export async function emitBillEvents(tx: Tx, type: BillEventType, billIds: string[]): Promise<void> {
  if (billIds.length === 0) return;
  const rows = await tx.query(eventBills(tx, type, billIds));
  emitRecordEvents(
    tx,
    rows.map((row) => ({ ...row, type })),
  );
}

type EventBillRow = { courierId: string; data: Schemas['EventBill'] };

const eventBills = (scope: Scope, type: BillEventType, billIds: string[]): Sql<EventBillRow> =>
  once`
    select b.courier_id as "courierId", jsonb_build_object('bill_id', b.id, 'invoice_number', b.invoice_number,
      'service_type', b.service_type, 'start_date', b.start_date, 'end_date', b.end_date, 'total_packages', b.total_packages,
      'subtotal', b.subtotal, 'tax_rate', b.tax_rate, 'tax_amount', b.tax_amount, 'total_amount', b.total_amount,
      'paid_amount', b.paid_amount, 'balance', b.total_amount - b.paid_amount, 'currency', ${currencyOf(scope)},
      'status', b.status, 'due_date', ${dueDateOfPublished},
      'published_at', to_char(b.published_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) as data
    from unnest(${billIds}::uuid[]) with ordinality as changed (id, position)
    join bills b on ${tenantRows(scope, 'b')} and b.id = changed.id and b.status <> 'draft'
    join couriers k on ${tenantRows(scope, 'k')} and k.id = b.courier_id
      and ${type} = any(k.add_package_events || k.update_package_events)
    order by changed.position`;
