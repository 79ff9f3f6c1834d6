import { audit } from '../../platform/audit/audit.js';
import { inEachTenant } from '../../platform/context/each-tenant.js';
import { makeContext } from '../../platform/context/request-context.js';
import { type Db, systemCallers } from '../../platform/db/database.js';
import { pendingWork, type PendingRow } from '../../platform/metrics/backlog-queries.js';
import { newId } from '../../platform/values/ids.js';
import {
  cancelAccountMails,
  cancelBillMails,
  cancelManifestMails,
  cancelNoticeMails,
  cancelNotices,
  cancelSyncs,
  cancelWebhooks,
  selectCourier,
} from './pending-queries.js';

/** A restored database may contain many pending rows of one tenant. */
const CANCEL_TIMEOUT_MS = 300_000;

export type Cancelled = { webhooks: number; mails: number; syncs: number };

/** Lists what waits to be sent or fetched, over all tenants. */
export async function listPending(db: Db): Promise<PendingRow[]> {
  const pending = await inEachTenant(db, 'outbound', (ctx) => ctx.read([pendingWork(ctx)]));
  return pending.flatMap(([rows]) => rows);
}

const CANCELLED = 'Cancelled by the operator after a restore.';
const DROPPED = 'Dropped by the operator.';

/** Cancels what was created before a time and was not sent yet. Each tenant's changes are one transaction with an audit entry. */
export async function cancelPending(db: Db, before: Date): Promise<Cancelled> {
  const total: Cancelled = { webhooks: 0, mails: 0, syncs: 0 };
  const all = { before, reason: CANCELLED };
  for (const caller of await systemCallers(db)) {
    await makeContext(db, caller, `outbound ${newId()}`).write(
      async (tx) => {
        const cancelled = {
          webhooks: await tx.count(cancelWebhooks(tx, all)),
          mails:
            (await tx.count(cancelManifestMails(tx, all))) +
            (await tx.count(cancelBillMails(tx, all))) +
            (await tx.count(cancelNoticeMails(tx, all))) +
            (await tx.count(cancelNotices(tx, all))) +
            (await tx.count(cancelAccountMails(tx, all))),
          syncs: await tx.count(cancelSyncs(tx, all)),
        };
        for (const kind of ['webhooks', 'mails', 'syncs'] as const) total[kind] += cancelled[kind];
        const after = { before: before.toISOString(), ...cancelled };
        const entity = { entity: 'tenant', entityId: tx.tenantId } as const;
        tx.later(audit(tx, { action: 'tenant.outbound_cancelled', ...entity, after }));
      },
      { timeoutMs: CANCEL_TIMEOUT_MS },
    );
  }
  return total;
}

export const DROPPABLE = ['webhooks', 'mails', 'syncs'] as const;
export type Droppable = (typeof DROPPABLE)[number];

const CANCEL = {
  webhooks: [cancelWebhooks],
  mails: [cancelManifestMails, cancelBillMails, cancelNoticeMails, cancelNotices],
  syncs: [cancelSyncs],
} satisfies Record<Droppable, unknown>;

/**
 * Gives up what waits to be sent for one courier. A webhook counts as failed: staff and the courier can send it again.
 *
 * @param of the tenant's slug and the courier's code
 * @returns how much was dropped; undefined if there is no such courier
 */
export async function dropPending(
  db: Db,
  of: { tenant: string; courier: string },
  kind: Droppable,
  before: Date,
): Promise<number | undefined> {
  for (const caller of await systemCallers(db)) {
    const ctx = makeContext(db, caller, `outbound ${newId()}`);
    const [[courier]] = await ctx.read([selectCourier(ctx, of)]);
    if (!courier) continue;
    const selection = { before, courierId: courier.id, reason: DROPPED };
    return ctx.write(
      async (tx) => {
        let dropped = 0;
        for (const cancel of CANCEL[kind]) dropped += await tx.count(cancel(tx, selection));
        const after = { kind, before: before.toISOString(), dropped };
        tx.later(
          audit(tx, { action: 'courier.outbound_dropped', entity: 'courier', entityId: courier.id, after }),
        );
        return dropped;
      },
      { timeoutMs: CANCEL_TIMEOUT_MS },
    );
  }
  return undefined;
}
