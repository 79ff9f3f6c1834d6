import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { oneLine } from '../../../platform/mail/plain-text.js';
import type { Scope, SystemScope } from '../../../platform/db/scope.js';
import { columns } from '../../../platform/db/columns.js';

const ACCOUNT_MAIL = columns('AccountMail', 'mail', [
  'kind',
  'recipient',
  'address',
  'userAgent',
  'secretCipher',
  'createdAt',
]);
const USER = columns('User', 'u', ['username']);
const TENANT = columns('Tenant', 't', { tenantName: 'name', tenantSlug: 'slug' });

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
  | 'email_changed'
  | 'courier_redirected';

export type AccountMail = {
  userId: string;
  kind: AccountMailKind;
  /** The recipient's address, by default the user's own. */
  recipient?: string | undefined;
  /** The client of the request that caused the mail; undefined if somebody other than the user caused it. */
  client?: { address: string; userAgent: string | undefined } | undefined;
};

type NewAccountMail = AccountMail & { id: string; secretCipher: string | undefined };

/** Stores the mail and returns its id. Returns no row for a user without an address. */
export function insertAccountMail(ctx: Scope, mail: NewAccountMail): Sql<{ id: string }> {
  const { id, userId, kind, client } = mail;
  const [recipient, secretCipher] = [mail.recipient ?? null, mail.secretCipher ?? null];
  const address = client?.address ?? null;
  const userAgent = oneLine(client?.userAgent ?? '') || null;
  return sql`insert into account_mails (tenant_id, id, user_id, kind, address, user_agent, recipient, secret_cipher)
    select u.tenant_id, ${id}::uuid, u.id, ${kind}, ${address}, ${userAgent},
      coalesce(${recipient}, u.email), ${secretCipher}
    from users u where ${tenantRows(ctx, 'u')} and u.id = ${userId}::uuid
      and coalesce(${recipient}, u.email) is not null
    returning id`;
}

export type AccountMailRow = RowOf<typeof ACCOUNT_MAIL> &
  RowOf<typeof USER> &
  RowOf<typeof TENANT> & {
    kind: AccountMailKind;
    /** Older than the lifetime of a reset token. */
    isStale: boolean;
  };

export const selectAccountMail = (ctx: SystemScope, mailId: string): Sql<AccountMailRow> => sql`
  select ${ACCOUNT_MAIL},
    mail.created_at < now() - interval '30 minutes' as "isStale",
    ${USER}, ${TENANT}
  from account_mails mail
  join users u on u.tenant_id = mail.tenant_id and u.id = mail.user_id
  join tenants t on t.id = mail.tenant_id
  where ${tenantRows(ctx, 'mail')} and mail.id = ${mailId}::uuid`;
