import { BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext } from '../../../platform/context/request-context.js';
import type { Db } from '../../../platform/db/database.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import { quotaOf, remainingQuota, takeQuota } from '../../../platform/limits/stored/quotas.js';
import type { Jobs } from '../../../platform/queue/jobs.js';
import { queueOwnerMails } from '../../mail/public.js';

const MAILS_PER_DAY = quotaOf('account_mails');

/** A thief could disable the owners first. */
const DISABLED_DAYS = 7;

/** The e-mail address of the courier's profile, before the request if it changed it. */
const profileAddress = (
  ctx: SystemScope,
  { courierId, requestId }: Jobs['tellCourierOwners'],
): Sql<{ email: string | null }> => sql`
  select case when a.id is null then c.email else a.before ->> 'email' end as email
  from couriers c
  left join audit_entries a on ${tenantRows(ctx, 'a')} and a.request_id = ${requestId} and a.entity_id = c.id
    and a.action = 'courier.updated' and a.before ? 'email'
  where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;

/**
 * Tells the owners of a courier, and the address of its profile before the change, that its data go elsewhere, or that other events are sent (decisions 0135 and 0145). A job,
 * because a courier sees neither its users nor the mails. Beyond the limit of mails nobody is told: the change itself is done.
 */
export async function tellCourierOwners({ db }: { db: Db }, job: Jobs['tellCourierOwners']): Promise<void> {
  const { tenantId, courierId } = job;
  const ctx = makeContext(db, { kind: 'system', tenantId }, BACKGROUND);
  await ctx.write(async (tx) => {
    const [profile] = await tx.query(profileAddress(ctx, job));
    const atMost = await remainingQuota(tx, MAILS_PER_DAY, courierId);
    const recipients = { alsoTo: profile?.email, disabledDays: DISABLED_DAYS, atMost };
    const told = await queueOwnerMails(tx, courierId, { kind: 'courier_redirected' }, recipients);
    await takeQuota(tx, MAILS_PER_DAY, courierId, told);
  });
}
