import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Sql, type Tx } from '../../../platform/db/transaction.js';
import { newId } from '../../../platform/values/ids.js';
import { addJobs } from '../../../platform/queue/jobs.js';
import { oneLine } from '../../../platform/mail/plain-text.js';
import { QUEUE_ATTEMPTS } from '../delivery/send-mail.js';

export type AccountMailKind =
  | 'new_network'
  | 'password_changed'
  | 'password_reset'
  | 'password_reset_by_admin'
  | 'password_reset_link'
  | 'two_factor_enabled'
  | 'two_factor_disabled'
  | 'two_factor_reset_by_admin'
  | 'backup_codes_regenerated'
  | 'email_changed';

export type AccountMail = {
  userId: string;
  kind: AccountMailKind;
  /** The recipient's address, by default the user's own. */
  recipient?: string;
  /** The client of the request that caused the mail; undefined if somebody other than the user caused it. */
  client?: { address: string; userAgent: string | undefined };
  /** Returns the encrypted secret of the mail, which must not be stored in clear. */
  encrypt?: (mailId: string) => string;
};

/**
 * Queues a mail about a user's account in the transaction of the change. A user without an address gets no
 * mail.
 */
export async function queueAccountMail(db: Db, tx: Tx, mail: AccountMail): Promise<void> {
  const { tenantId } = tx.caller;
  const queued = await tx.query<{ id: string }>(insertAccountMail(db, tx, newId(), mail));
  if (queued.length === 0) return;
  const jobs = queued.map(({ id }) => ({ tenantId, mailId: id }));
  await tx.query(addJobs('sendAccountMail', jobs, { maxAttempts: QUEUE_ATTEMPTS }));
}

function insertAccountMail(
  db: Db,
  tx: Tx,
  id: string,
  { userId, kind, recipient, client, encrypt }: AccountMail,
): Sql {
  const address = client?.address ?? null;
  const userAgent = oneLine(client?.userAgent ?? '') || null;
  return sql`insert into account_mails (tenant_id, id, user_id, kind, address, user_agent, recipient, secret_cipher)
    select u.tenant_id, ${id}::uuid, u.id, ${kind}, ${address}, ${userAgent},
      coalesce(${recipient ?? null}, u.email), ${encrypt?.(id) ?? null}
    from users u where ${tenantRows(db, tx.caller, 'u')} and u.id = ${userId}::uuid
      and coalesce(${recipient ?? null}, u.email) is not null
    returning id`;
}
