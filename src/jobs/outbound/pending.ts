import { makeContext } from '../../platform/context/request-context.js';
import type { Db } from '../../platform/db/database.js';
import { systemCallers } from '../../platform/db/tenants.js';
import { newId } from '../../platform/values/ids.js';
import {
  cancelAccountMails,
  cancelManifestMails,
  cancelSyncs,
  cancelWebhooks,
  pendingWork,
  type PendingRow,
} from './pending-queries.js';

/** A restored database may contain many pending rows of one tenant. */
const CANCEL_TIMEOUT_MS = 300_000;

export type Cancelled = { webhooks: number; mails: number; syncs: number };

/** Lists what waits to be sent or fetched, over all tenants. */
export async function listPending(db: Db): Promise<PendingRow[]> {
  const pending: PendingRow[] = [];
  for (const caller of await systemCallers(db)) {
    const ctx = makeContext(db, caller, 'outbound');
    const [rows] = await ctx.read([pendingWork(ctx)]);
    pending.push(...rows);
  }
  return pending;
}

/** Cancels what was created before a time and was not sent yet. Each tenant's changes are one transaction with an audit entry. */
export async function cancelPending(db: Db, before: Date): Promise<Cancelled> {
  const total: Cancelled = { webhooks: 0, mails: 0, syncs: 0 };
  for (const caller of await systemCallers(db)) {
    const ctx = makeContext(db, caller, `outbound ${newId()}`);
    await ctx.bulkTransaction(CANCEL_TIMEOUT_MS, async (tx) => {
      const [webhooks] = await tx.query(cancelWebhooks(ctx, before));
      const [manifestMails] = await tx.query(cancelManifestMails(ctx, before));
      const [accountMails] = await tx.query(cancelAccountMails(ctx, before));
      const [syncs] = await tx.query(cancelSyncs(ctx, before));
      const cancelled = {
        webhooks: webhooks?.cancelled ?? 0,
        mails: (manifestMails?.cancelled ?? 0) + (accountMails?.cancelled ?? 0),
        syncs: syncs?.cancelled ?? 0,
      };
      for (const kind of ['webhooks', 'mails', 'syncs'] as const) total[kind] += cancelled[kind];
      const after = { before: before.toISOString(), ...cancelled };
      await tx.audit({
        action: 'tenant.outbound_cancelled',
        entity: 'tenant',
        entityId: ctx.tenantId,
        after,
      });
    });
  }
  return total;
}
