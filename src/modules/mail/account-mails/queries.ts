import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { SystemContext } from '../../../platform/context/request-context.js';
import type { AccountMailKind } from './queue-account-mail.js';

export type AccountMailRow = {
  kind: AccountMailKind;
  recipient: string;
  address: string | null;
  user_agent: string | null;
  secret_cipher: string | null;
  created_at: Date;
  is_stale: boolean;
  username: string;
  full_name: string;
  tenant_name: string;
  tenant_slug: string;
};

/** `is_stale`: older than the lifetime of a reset token. */
export const selectAccountMail = (ctx: SystemContext, mailId: string): Sql<AccountMailRow> => sql`
  select mail.kind, mail.recipient, mail.address, mail.user_agent, mail.secret_cipher, mail.created_at,
    mail.created_at < now() - interval '30 minutes' as is_stale,
    u.username, u.full_name, t.name as tenant_name, t.slug as tenant_slug
  from account_mails mail
  join users u on u.tenant_id = mail.tenant_id and u.id = mail.user_id
  join tenants t on t.id = mail.tenant_id
  where ${tenantRows(ctx, 'mail')} and mail.id = ${mailId}::uuid`;
