import type { SystemCaller } from '../../../platform/identity/callers.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { raw, sql, type Db, type Sql } from '../../../platform/db/transaction.js';

type Scope = { db: Db; caller: SystemCaller };

export type MailTable = 'manifest_mails' | 'account_mails';

/** Takes up a mail that has still to be sent, and counts that. */
export function takeUpMail({ db, caller }: Scope, table: MailTable, mailId: string): Sql {
  return sql`
    update ${raw(table)} mail set attempt_count = attempt_count + 1
    where ${tenantRows(db, caller, 'mail')} and mail.id = ${mailId}::uuid and mail.status = 'queued'
    returning attempt_count`;
}

/** What became of a mail; `queued` for one that will be tried again. */
export type MailOutcome = {
  status: 'queued' | 'sent' | 'failed' | 'skipped';
  recipient: string | null;
  error: string | null;
};

/** Notes what became of a mail, unless that is known already. */
export function noteOutcome(
  { db, caller }: Scope,
  table: MailTable,
  mailId: string,
  { status, recipient, error }: MailOutcome,
): Sql {
  // an account mail has its recipient from the start, and a secret that is not kept
  const own =
    table === 'manifest_mails'
      ? sql`recipient = ${recipient},`
      : sql`secret_cipher = case when ${status} = 'queued' then secret_cipher end,`;
  return sql`
    update ${raw(table)} mail
    set status = ${status}, ${own} last_error = ${error},
      settled_at = case when ${status} = 'queued' then null else now() end
    where ${tenantRows(db, caller, 'mail')} and mail.id = ${mailId}::uuid and mail.status = 'queued'`;
}
