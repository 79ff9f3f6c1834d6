import type { Tx } from '../../../platform/db/scope.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { AccountMail } from './queries.js';
import { queueAccountMail } from './queue-account-mail.js';

/** How many owners of a courier are told. */
const OWNERS = 5;

/** The courier's owners, and its other users: a mail belongs to a user, although it may go to another address. */
const usersOf = (
  ctx: Tx,
  courierId: string,
  disabledDays: number,
): Sql<{ id: string; email: string | null; isTold: boolean }> => sql`
  select u.id, u.email, u.email is not null and u.is_courier_owner
      and (u.is_active or u.updated_at > now() - make_interval(days => ${disabledDays}::int)) as "isTold"
  from users u
  where ${tenantRows(ctx, 'u')} and u.courier_id = ${courierId}::uuid
  order by 3 desc, u.created_at, u.id limit ${OWNERS}`;

type Recipients = {
  /** The address of the courier's profile. */
  alsoTo: string | null | undefined;
  /** Owners who were disabled within so many days are told too. */
  disabledDays: number;
  /** How many may be told. */
  atMost: number;
};

/** Mails the owners of a courier. Returns how many were told. A courier without users is told nothing. */
export async function queueOwnerMails(
  tx: Tx,
  courierId: string,
  mail: Pick<AccountMail, 'kind' | 'endpoint'>,
  { alsoTo, disabledDays, atMost }: Recipients,
): Promise<number> {
  const users = await tx.query(usersOf(tx, courierId, disabledDays));
  const [first] = users;
  if (!first) return 0;
  const recipients = new Map(
    users.flatMap(({ id, email, isTold }) => (isTold && email ? [[email, id]] : [])),
  );
  if (alsoTo && !recipients.has(alsoTo)) recipients.set(alsoTo, first.id);
  const told = [...recipients].slice(0, Math.max(0, atMost));
  for (const [recipient, userId] of told) await queueAccountMail(tx, { ...mail, userId, recipient });
  return told.length;
}
