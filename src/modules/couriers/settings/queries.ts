import { tenantRows } from '../../../platform/db/filters.js';
import type { Courier } from '../../../platform/db/models/types.js';
import { once, raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import type { Scope, UserScope } from '../../../platform/db/scope.js';
import type { MediaType, WebhookFormat } from '../shared/profile.js';
import { CONTACT_COLUMNS, type ContactRow } from '../shared/queries.js';

export type CourierRow = ContactRow &
  Pick<
    Courier,
    | 'apiKeyCipher'
    | 'apiUrlGetCustomers'
    | 'apiUrlAddPackage'
    | 'apiUrlUpdatePackage'
    | 'apiTokenCipher'
    | 'webhookSecretCipher'
    | 'webhookSecretRotatedAt'
  > & {
    addPackageFormat: WebhookFormat;
    updatePackageFormat: WebhookFormat;
    /** The endpoints that have received a request; null for none. */
    endpoints: { [Name in Endpoint]?: EndpointHealth } | null;
    /** USD per pound, as exact decimal text. */
    airFreightRate: string;
    logoHash: string | null;
    logoMediaType: MediaType | null;
    /** The time of the transaction, by the database's clock. */
    now: Date;
  };

/** The health of a URL, in the contract's format. */
type EndpointHealth = {
  failing_since: string | null;
  paused_at: string | null;
  last_success_at: string | null;
  last_failure_at: string | null;
  failures: number;
};

/** Selects a courier's profile, the health of its URLs, and its logo's hash and media type. */
export function selectCourier(ctx: UserScope, courierId: string): Sql<CourierRow> {
  return once`
    select ${CONTACT_COLUMNS}, c.api_key_cipher as "apiKeyCipher", c.api_url_get_customers as "apiUrlGetCustomers",
      c.api_url_add_package as "apiUrlAddPackage", c.api_url_update_package as "apiUrlUpdatePackage",
      c.add_package_format as "addPackageFormat", c.update_package_format as "updatePackageFormat",
      c.api_token_cipher as "apiTokenCipher", c.webhook_secret_cipher as "webhookSecretCipher",
      c.webhook_secret_rotated_at as "webhookSecretRotatedAt",
      (select jsonb_object_agg(e.endpoint, jsonb_build_object('failures', e.failures,
          'failing_since', ${formatted('failing_since')}, 'paused_at', ${formatted('paused_at')},
          'last_success_at', ${formatted('last_success_at')}, 'last_failure_at', ${formatted('last_failure_at')}))
        from webhook_endpoints e
        where ${tenantRows(ctx, 'e')} and e.tenant_id = c.tenant_id and e.courier_id = c.id) as endpoints,
      c.air_freight_rate::text as "airFreightRate", l.content_hash as "logoHash", l.media_type as "logoMediaType",
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
): Sql<Pick<Courier, 'webhookSecretCipher'> & { now: Date }> =>
  sql`select c.webhook_secret_cipher as "webhookSecretCipher", now() as now from couriers c
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid for no key update`;
