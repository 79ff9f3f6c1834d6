import { BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext } from '../../../platform/context/request-context.js';
import type { Db } from '../../../platform/db/database.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import { quotaOf, remainingQuota, takeQuota } from '../../../platform/limits/stored/quotas.js';
import type { Jobs } from '../../../platform/queue/jobs.js';
import { queueAccountMail } from '../../mail/public.js';

const MAILS_PER_DAY = quotaOf('account_mails');

/** How many owners of a courier are told. */
const OWNERS = 5;

/** A courier's owners, first those with an address. */
const ownersOf = (ctx: SystemScope, courierId: string): Sql<{ id: string; email: string | null }> => sql`
  select u.id, u.email from users u
  where ${tenantRows(ctx, 'u')} and u.courier_id = ${courierId}::uuid and u.is_courier_owner and u.is_active
  order by u.email is null, u.created_at, u.id limit ${OWNERS}`;

/** The e-mail address of a courier before a request changed it. No row if the request did not. */
const oldAddress = (
  ctx: SystemScope,
  { courierId, requestId }: Jobs['tellCourierOwners'],
): Sql<{ email: string | null }> => sql`
  select a.before ->> 'email' as email from audit_entries a
  where ${tenantRows(ctx, 'a')} and a.request_id = ${requestId} and a.entity_id = ${courierId}::uuid
    and a.action = 'courier.updated' and a.before ? 'email'`;

/**
 * Tells the owners of a courier, and its address before the change, that its data go elsewhere (decision 0135). A job, because a courier
 * sees neither its users nor the mails. Beyond the limit of mails nobody is told: the change itself is done.
 */
export async function tellCourierOwners({ db }: { db: Db }, job: Jobs['tellCourierOwners']): Promise<void> {
  const { tenantId, courierId } = job;
  const ctx = makeContext(db, { kind: 'system', tenantId }, BACKGROUND);
  await ctx.write(async (tx) => {
    const [owners, [old]] = await tx.query([ownersOf(ctx, courierId), oldAddress(ctx, job)]);
    const [first] = owners;
    if (!first) return;
    const recipients = new Map(owners.map(({ id, email }) => [email, id]));
    if (old && !recipients.has(old.email)) recipients.set(old.email, first.id);
    recipients.delete(null);
    const left = await remainingQuota(tx, MAILS_PER_DAY, courierId);
    const told = [...recipients].slice(0, Math.max(0, left));
    for (const [recipient, userId] of told)
      await queueAccountMail(tx, { kind: 'courier_redirected', userId, recipient: recipient ?? undefined });
    await takeQuota(tx, MAILS_PER_DAY, courierId, told.length);
  });
}
