import type { components } from '../../../../generated/contract.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { Courier } from '../../../platform/db/models/types.js';
import { once, raw, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import type { Scope, UserScope } from '../../../platform/db/scope.js';
import { SYSTEM, type MediaType, type SystemFields } from '../shared/profile.js';
import { CONTACT_COLUMNS, type ContactRow } from '../shared/queries.js';
import { columns } from '../../../platform/db/columns.js';

const SYSTEM_COLUMNS = columns('Courier', 'c', SYSTEM);
const COURIER = columns('Courier', 'c', [
  'apiKeyCipher',
  'apiTokenCipher',
  'urlsOfTokens',
  'webhookSecretCipher',
  'webhookPreviousSecretCipher',
  'webhookSecretRotatedAt',
  'airFreightRate',
]);
const LOGO = columns('CourierLogo', 'l', { logoHash: 'contentHash', logoMediaType: 'mediaType' });
const WEBHOOK_SECRET = columns('Courier', 'c', ['webhookSecretCipher', 'webhookPreviousSecretCipher']);

export type CourierRow = ContactRow &
  SystemFields &
  RowOf<typeof COURIER> & {
    /** The endpoints that have received a request; null for none. */
    endpoints: { [Name in Endpoint]?: EndpointHealth } | null;
    logoHash: string | null;
    logoMediaType: MediaType | null;
    /** The time of the transaction, by the database's clock. */
    now: Date;
  };

/** The health of a URL. */
type EndpointHealth = Omit<components['schemas']['WebhookHealth'], 'state'>;

/** Selects a courier's profile, the health of its URLs, and its logo's hash and media type. */
export function selectCourier(ctx: UserScope, courierId: string): Sql<CourierRow> {
  return once`
    select ${CONTACT_COLUMNS}, ${SYSTEM_COLUMNS}, ${COURIER},
      (select jsonb_object_agg(e.endpoint, jsonb_build_object('failures', e.failures,
          'failing_since', ${formatted('failing_since')}, 'paused_at', ${formatted('paused_at')},
          'last_success_at', ${formatted('last_success_at')}, 'last_failure_at', ${formatted('last_failure_at')}))
        from webhook_endpoints e
        where ${tenantRows(ctx, 'e')} and e.tenant_id = c.tenant_id and e.courier_id = c.id) as endpoints,
      ${LOGO},
      now() as now
    from couriers c
    left join courier_logos l on l.tenant_id = c.tenant_id and l.courier_id = c.id and ${tenantRows(ctx, 'l')}
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;
}

const formatted = (column: Exclude<keyof EndpointHealth, 'failures'>): Sql =>
  sql`to_char(e.${raw(column)} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')`;

/** SQL, because the database's clock dates the change. */
export const replaceApiKey = (
  ctx: UserScope,
  courierId: string,
  { apiKeyHash, apiKeyCipher }: Pick<Courier, 'apiKeyHash' | 'apiKeyCipher'>,
): Sql =>
  sql`update couriers c set api_key_hash = ${apiKeyHash}, api_key_cipher = ${apiKeyCipher}, updated_at = now()
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;

/** Locks the courier's webhook secret until the end of the transaction, and selects the database's time. */
export const lockedWebhookSecret = (
  ctx: Scope,
  courierId: string,
): Sql<RowOf<typeof WEBHOOK_SECRET> & { now: Date }> =>
  sql`select ${WEBHOOK_SECRET}, now() as now from couriers c
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid for no key update`;
