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
  'endpoint',
  'createdAt',
]);
const USER = columns('User', 'u', ['username']);
const ENDPOINT = columns('WebhookEndpoint', 'e', [
  'failingSince',
  'pausedAt',
  'lastFailureOutcome',
  'lastFailureStatus',
  'lastFailureError',
]);
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
  | 'courier_redirected'
  | WebhookMailKind;

/** How far the failures of a URL have gone. */
export type WebhookMailKind = 'webhook_failing' | 'webhook_pausing' | 'webhook_paused';

export type AccountMail = {
  userId: string;
  kind: AccountMailKind;
  /** The recipient's address, by default the user's own. */
  recipient?: string | undefined;
  /** The URL that a mail about failures is about. */
  endpoint?: string | undefined;
  /** The client of the request that caused the mail; undefined if somebody other than the user caused it. */
  client?: { address: string; userAgent: string | undefined } | undefined;
};

type NewAccountMail = AccountMail & { id: string; secretCipher: string | undefined };

/**
 * Mails within 24 hours. Nobody has confirmed the addresses, and whoever creates users can cause mails to them in many ways: anonymous
 * requests for a reset, logins from new networks, changes of a password. Resets and notices are counted apart, and the notices of each
 * courier and of the staff too: otherwise strangers could use up the limit of a recipient to hide the notice of an intrusion.
 */
const LIMITS = {
  resets: { recipient: 20, courier: 60, staff: 500 },
  notices: { recipient: 50, courier: 500, staff: 5_000 },
};

/** Stores the mail and returns its id. Returns no row for a user without an address, and above the limits. */
export function insertAccountMail(ctx: Scope, mail: NewAccountMail): Sql<{ id: string }> {
  const { id, userId, kind, client } = mail;
  const [recipient, secretCipher] = [mail.recipient ?? null, mail.secretCipher ?? null];
  const endpoint = mail.endpoint ?? null;
  const address = client?.address ?? null;
  const userAgent = oneLine(client?.userAgent ?? '') || null;
  const isReset = kind === 'password_reset_link';
  const limits = isReset ? LIMITS.resets : LIMITS.notices;
  return sql`insert into account_mails (tenant_id, id, user_id, kind, address, user_agent, recipient, secret_cipher, endpoint, courier_id)
    select u.tenant_id, ${id}::uuid, u.id, ${kind}, ${address}, ${userAgent},
      coalesce(${recipient}, u.email), ${secretCipher}, ${endpoint},
      case when ${endpoint}::text is not null then u.courier_id end
    from users u cross join lateral (
      select count(*) filter (where of_group) as group_count,
        count(*) filter (where (${isReset} or of_group) and lower(recipient) = lower(coalesce(${recipient}, u.email))) as recipient_count
      from (
        select m.recipient, owner.courier_id is not distinct from u.courier_id as of_group
        from account_mails m join users owner on ${tenantRows(ctx, 'owner')} and owner.id = m.user_id
        where ${tenantRows(ctx, 'm')} and m.created_at > now() - interval '24 hours'
          and (m.kind = 'password_reset_link') = ${isReset}
      ) as mails
    ) as recent
    where ${tenantRows(ctx, 'u')} and u.id = ${userId}::uuid
      and coalesce(${recipient}, u.email) is not null
      and recent.recipient_count < ${limits.recipient}::int
      and recent.group_count < case when u.courier_id is null then ${limits.staff}::int else ${limits.courier}::int end
    returning id`;
}

export type AccountMailRow = RowOf<typeof ACCOUNT_MAIL> &
  RowOf<typeof USER> &
  RowOf<typeof TENANT> &
  // Of the URL that the mail is about; null for other mails, and if the URL is gone.
  { [Name in keyof RowOf<typeof ENDPOINT>]: RowOf<typeof ENDPOINT>[Name] | null } & {
  kind: AccountMailKind;
  /** Older than the lifetime of a reset token. */
  isStale: boolean;
  /** The mail is about a courier to which the user belongs no longer. */
  isMoved: boolean;
};

export const selectAccountMail = (ctx: SystemScope, mailId: string): Sql<AccountMailRow> => sql`
  select ${ACCOUNT_MAIL},
    mail.created_at < now() - interval '30 minutes' as "isStale",
    mail.courier_id is not null and mail.courier_id is distinct from u.courier_id as "isMoved",
    ${USER}, ${TENANT}, ${ENDPOINT}
  from account_mails mail
  join users u on u.tenant_id = mail.tenant_id and u.id = mail.user_id
  left join webhook_endpoints e on ${tenantRows(ctx, 'e')} and e.courier_id = mail.courier_id and e.endpoint = mail.endpoint
  join tenants t on t.id = mail.tenant_id
  where ${tenantRows(ctx, 'mail')} and mail.id = ${mailId}::uuid`;
