import { tenantRows } from '../../../platform/db/filters.js';
import type { ManifestMail } from '../../../platform/db/models/types.js';
import { isSandbox } from '../../../platform/db/sandbox.js';
import { empty, raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { SystemScope } from '../../../platform/db/scope.js';

export type MailTable = 'manifest_mails' | 'account_mails' | 'bill_mails' | 'notice_mails';

/** `isOfSandbox`: nothing of it may leave the service. */
export type ClaimedMail = Pick<ManifestMail, 'attemptCount'> & { isOfSandbox: boolean };

/** Claims a queued mail and counts the attempt. */
export function claimMail(ctx: SystemScope, table: MailTable, mailId: string): Sql<ClaimedMail> {
  return sql`
    update ${raw(table)} mail set attempt_count = attempt_count + 1
    where ${tenantRows(ctx, 'mail')} and mail.id = ${mailId}::uuid and mail.status = 'queued'
    returning attempt_count as "attemptCount", ${isSandbox(ctx)} as "isOfSandbox"`;
}

/** The result of an attempt. `queued` means that it will be retried. */
export type MailOutcome = {
  status: 'queued' | 'sent' | 'failed' | 'skipped';
  recipient: string | null;
  error: string | null;
};

/** Records the result of a mail, unless it is already settled. */
export function recordOutcome(
  ctx: SystemScope,
  table: MailTable,
  mailId: string,
  { status, recipient, error }: MailOutcome,
): Sql {
  return sql`
    update ${raw(table)} mail
    set status = ${status}, ${ownColumns(table, { status, recipient })} last_error = ${error},
      settled_at = case when ${status} = 'queued' then null else now() end
    where ${tenantRows(ctx, 'mail')} and mail.id = ${mailId}::uuid and mail.status = 'queued'`;
}

/** All but mails about manifests have their recipient from the start. The secret of an account mail is deleted when it is settled. */
function ownColumns(table: MailTable, { status, recipient }: Omit<MailOutcome, 'error'>): Sql {
  if (table === 'bill_mails' || table === 'notice_mails') return empty;
  return table === 'manifest_mails'
    ? sql`recipient = ${recipient},`
    : sql`secret_cipher = case when ${status} = 'queued' then secret_cipher end,`;
}
