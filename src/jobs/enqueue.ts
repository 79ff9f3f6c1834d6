import { sql, type Sql } from '../db/transaction.js';
import { newId } from '../ids.js';

/** An effect outside the database. What each kind's payload holds is stated beside who enqueues it. */
export type JobRequest = {
  kind: 'package.created' | 'package.status_changed' | 'package.sync' | 'manifest.status_mail';
  /** Whose endpoint or mailbox it is for. */
  courierId: string;
  payload: Record<string, unknown>;
};

/** The statement that queues effects; run it in the transaction that causes them, so that both happen or neither. */
export function enqueueStatement(tenantId: string, jobs: JobRequest[]): Sql {
  const rows = jobs.map(({ kind, courierId, payload }) => ({
    id: newId(),
    kind,
    courier_id: courierId,
    payload,
  }));
  return sql`insert into jobs (tenant_id, id, kind, courier_id, payload)
    select ${tenantId}::uuid, id, kind, courier_id, payload
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as job (id uuid, kind text, courier_id uuid, payload jsonb)`;
}
