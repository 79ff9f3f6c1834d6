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

/**
 * A courier's owners with an address, also those disabled within a week, since a thief could disable them first. Then its other users: a
 * mail belongs to a user, although it may go to another address.
 */
const usersOf = (
  ctx: SystemScope,
  courierId: string,
): Sql<{ id: string; email: string | null; isTold: boolean }> => sql`
  select u.id, u.email, u.email is not null and u.is_courier_owner
      and (u.is_active or u.updated_at > now() - interval '7 days') as "isTold"
  from users u
  where ${tenantRows(ctx, 'u')} and u.courier_id = ${courierId}::uuid
  order by 3 desc, u.created_at, u.id limit ${OWNERS}`;

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
 * Tells the owners of a courier, and the address of its profile before the change, that its data go elsewhere (decision 0135). A job,
 * because a courier sees neither its users nor the mails. Beyond the limit of mails nobody is told: the change itself is done.
 */
export async function tellCourierOwners({ db }: { db: Db }, job: Jobs['tellCourierOwners']): Promise<void> {
  const { tenantId, courierId } = job;
  const ctx = makeContext(db, { kind: 'system', tenantId }, BACKGROUND);
  await ctx.write(async (tx) => {
    const [users, [profile]] = await tx.query([usersOf(ctx, courierId), profileAddress(ctx, job)]);
    const [first] = users;
    if (!first) return;
    const recipients = new Map(users.filter(({ isTold }) => isTold).map(({ id, email }) => [email, id]));
    if (profile && !recipients.has(profile.email)) recipients.set(profile.email, first.id);
    recipients.delete(null);
    const left = await remainingQuota(tx, MAILS_PER_DAY, courierId);
    const told = [...recipients].slice(0, Math.max(0, left));
    for (const [recipient, userId] of told)
      await queueAccountMail(tx, { kind: 'courier_redirected', userId, recipient: recipient ?? undefined });
    await takeQuota(tx, MAILS_PER_DAY, courierId, told.length);
  });
}
