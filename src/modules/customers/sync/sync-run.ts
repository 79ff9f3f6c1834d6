import { auditStatement } from '../../../platform/audit/audit.js';
import type { SystemCaller, UserCaller } from '../../../platform/identity/callers.js';
import type { BodyOf, QueryOf } from '../../../platform/contract/types.js';
import { systemCallers } from '../../../platform/db/tenants.js';
import { pipeline, transaction, snapshot, type Db, type Tx } from '../../../platform/db/transaction.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import { addJobs } from '../../../platform/queue/jobs.js';
import * as queries from './run-queries.js';
import type { RunRow } from './run-queries.js';

/**
 * Requests a synchronisation, or returns the one that is already open.
 * @throws ApiError courier_not_found, sync_url_missing, 400 for staff without a courier
 */
export async function requestSync(
  db: Db,
  caller: UserCaller,
  requestId: string,
  body: BodyOf<'syncCustomers'>,
): Promise<{ row: RunRow; isNew: boolean }> {
  const courierId = caller.courierId ?? body.courier_id;
  if (!courierId) throw invalidFieldError('courier_id', 'required_for_staff');
  return transaction(db, caller, async (tx) => {
    const [courier] = await tx.query<{ has_url: boolean }>(queries.courierOfSync(db, caller, courierId));
    if (!courier) throw new ApiError('courier_not_found');
    if (!courier.has_url) throw new ApiError('sync_url_missing');
    const { id, isNew } = await openRun(db, tx, caller, courierId);
    if (isNew) {
      const after = { courier_id: courierId };
      const fact = {
        action: 'customer_sync.requested',
        entity: 'customer_sync' as const,
        entityId: id,
        after,
      };
      await tx.execute(auditStatement(caller, requestId, [fact]));
      await tx.query(addJobs('syncCustomers', [{ tenantId: caller.tenantId, runId: id }]));
    }
    const [row] = await tx.query<RunRow>(queries.oneRun(db, caller, id));
    if (!row) throw new Error('The run was not found in the transaction that wrote it.');
    return { row, isNew };
  });
}

/** Returns the courier's only open run: a new one, or the one that already exists. */
async function openRun(
  db: Db,
  tx: Tx,
  caller: UserCaller,
  courierId: string,
): Promise<{ id: string; isNew: boolean }> {
  for (;;) {
    const [made] = await tx.query<{ id: string }>(queries.insertRun(caller, newId(), courierId));
    if (made) return { id: made.id, isNew: true };
    const [open] = await tx.query<{ id: string }>(queries.openRunOf(db, caller, courierId));
    if (open) return { id: open.id, isNew: false };
    // The open run ended between the two statements, so the insertion is tried again.
  }
}

/** Returns one page of runs and the cursor of the next page. */
export async function listSyncs(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'listCustomerSyncs'>,
): Promise<{ rows: RunRow[]; nextBefore: string | null }> {
  const [found] = await snapshot(db, caller, [queries.pageOfRuns(db, caller, query)]);
  // The statement selects exactly these columns.
  const rows = (found ?? []) as RunRow[];
  const page = rows.slice(0, query.limit);
  return { rows: page, nextBefore: rows.length > page.length ? (page.at(-1)?.run_id ?? null) : null };
}

/** The jobs of one hour are spread over this time, because couriers' systems often share a server. */
const SPREAD_SECONDS = 600;

/** Cron job: creates a run for each courier that has a URL and no open run. */
export async function scheduleCustomerSyncs({ db }: { db: Db }): Promise<void> {
  for (const caller of await systemCallers(db)) {
    const { tenantId } = caller;
    await transaction(db, caller, async (tx) => {
      const opened = await tx.query<{ id: string }>(queries.insertScheduledRuns(db, caller));
      const jobs = opened.map((run) => ({ tenantId, runId: run.id }));
      if (jobs.length > 0) await tx.query(addJobs('syncCustomers', jobs, { withinSeconds: SPREAD_SECONDS }));
    });
  }
}

const ABANDONED_MINUTES = 60;

/** Fails the tenant's abandoned runs, so that new ones can start. Returns their number. */
export async function failAbandonedRuns(db: Db, tenantId: string): Promise<number> {
  const caller: SystemCaller = { kind: 'system', tenantId };
  const error = 'It was given up, because it did not end within an hour. The next run tries again.';
  const [failed] = await pipeline(db, caller, [queries.failAbandoned(db, caller, ABANDONED_MINUTES, error)]);
  return failed?.length ?? 0;
}
