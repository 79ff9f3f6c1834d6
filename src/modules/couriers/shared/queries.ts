import type { SystemCaller, UserCaller } from '../../../platform/identity/callers.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { empty, raw, sql, type Db, type Sql, type Tx } from '../../../platform/db/transaction.js';
import type { AnyCtx, Ctx } from './context.js';
import type { ProfileFields } from './fields.js';
import type { MediaType } from './media-type.js';

export type CourierRow = Omit<ProfileFields, 'api_token'> & {
  courier_id: string;
  courier_code: string;
  api_key_cipher: string | null;
  api_token_cipher: string | null;
  webhook_secret_cipher: string | null;
  webhook_secret_rotated_at: Date | null;
  /** The endpoints that have received a request; null for none. */
  endpoints: { [Name in 'add_package' | 'update_package']?: EndpointHealth } | null;
  /** USD per pound, as exact decimal text. */
  air_freight_rate: string;
  logo_hash: string | null;
  logo_media_type: MediaType | null;
};

/** The health of a URL. Times are in the contract's format. */
export type EndpointHealth = {
  failing_since: string | null;
  paused_at: string | null;
  last_success_at: string | null;
  last_failure_at: string | null;
  failures: number;
};

/** Selects a courier's profile, the health of its URLs, and its logo's hash and media type. */
export function selectCourier(db: Db, caller: UserCaller, courierId: string): Sql {
  return sql`
    select c.id as courier_id, c.code as courier_code, c.name as courier_name, c.company_name, c.email,
      c.phone_number1, c.phone_number2, c.address1, c.address2, c.city_town, c.parish_province,
      c.api_key_cipher, c.api_url_get_customers, c.api_url_add_package, c.api_url_update_package,
      c.api_token_cipher, c.webhook_secret_cipher, c.webhook_secret_rotated_at,
      (select jsonb_object_agg(e.endpoint, jsonb_build_object('failures', e.failures,
          'failing_since', ${moment('failing_since')}, 'paused_at', ${moment('paused_at')},
          'last_success_at', ${moment('last_success_at')}, 'last_failure_at', ${moment('last_failure_at')}))
        from webhook_endpoints e
        where ${tenantRows(db, caller, 'e')} and e.tenant_id = c.tenant_id and e.courier_id = c.id) as endpoints,
      c.house_color, c.air_freight_rate::text as air_freight_rate,
      l.content_hash as logo_hash, l.media_type as logo_media_type
    from couriers c
    left join courier_logos l on l.tenant_id = c.tenant_id and l.courier_id = c.id and ${tenantRows(db, caller, 'l')}
    where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid`;
}

const moment = (column: keyof EndpointHealth): Sql =>
  sql`to_char(e.${raw(column)} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')`;

/**
 * As selectCourier, and locks the courier until the end of the transaction. Locks first and reads with a
 * second statement: a statement that waits for the lock sees the current courier, but the logo from before
 * the wait.
 */
export async function lockCourier(ctx: Ctx): Promise<CourierRow | undefined> {
  const { db, tx, caller, courierId } = ctx;
  await tx.query(sql`
    select from couriers c where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid for update`);
  const rows = await tx.query<CourierRow>(selectCourier(db, caller, courierId));
  return rows[0];
}

/** Returns the number of updated rows. */
export async function updateCourier(
  { db, tx, caller, courierId }: Ctx,
  fields: ProfileFields,
  apiTokenCipher: string | null,
): Promise<number> {
  return tx.execute(sql`
    update couriers c
    set name = ${fields.courier_name}, company_name = ${fields.company_name}, email = ${fields.email},
      phone_number1 = ${fields.phone_number1}, phone_number2 = ${fields.phone_number2},
      address1 = ${fields.address1}, address2 = ${fields.address2}, city_town = ${fields.city_town},
      parish_province = ${fields.parish_province}, api_url_get_customers = ${fields.api_url_get_customers},
      api_url_add_package = ${fields.api_url_add_package},
      api_url_update_package = ${fields.api_url_update_package}, house_color = ${fields.house_color},
      api_token_cipher = ${apiTokenCipher}, updated_at = now()
    where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid`);
}

/** Returns the number of updated rows. */
export async function updateKey(
  { db, tx, caller, courierId }: Ctx,
  hash: string,
  cipher: string,
): Promise<number> {
  return tx.execute(sql`
    update couriers c set api_key_hash = ${hash}, api_key_cipher = ${cipher}, updated_at = now()
    where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid`);
}

/** Locks the courier's secret until the end of the transaction. */
export async function lockWebhookSecret({
  db,
  tx,
  caller,
  courierId,
}: AnyCtx): Promise<Pick<CourierRow, 'webhook_secret_cipher'> | undefined> {
  const rows = await tx.query<Pick<CourierRow, 'webhook_secret_cipher'>>(sql`
    select c.webhook_secret_cipher from couriers c
    where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid for no key update`);
  return rows[0];
}

/** Returns the number of updated rows. */
export async function replaceWebhookSecret(
  { db, tx, caller, courierId }: AnyCtx,
  cipher: string,
  previousCipher: string | null,
): Promise<number> {
  return tx.execute(sql`
    update couriers c set webhook_secret_cipher = ${cipher}, webhook_previous_secret_cipher = ${previousCipher},
      webhook_secret_rotated_at = case when ${previousCipher}::text is not null then now() end, updated_at = now()
    where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid`);
}

/** Deletes the health of replaced URLs, including pauses. */
export async function deleteEndpointHealth(
  { db, tx, caller, courierId }: Ctx,
  names: string[],
): Promise<number> {
  return tx.execute(sql`
    delete from webhook_endpoints e
    where ${tenantRows(db, caller, 'e')} and e.courier_id = ${courierId}::uuid and e.endpoint = any(${names}::text[])`);
}

export type LogoRow = { content_hash: string; media_type: MediaType; content: Buffer };

/** Replaces the courier's only logo. */
export async function replaceLogo(
  { tx, caller, courierId }: Ctx,
  logo: LogoRow & { raster: Buffer },
): Promise<number> {
  return tx.execute(sql`
    insert into courier_logos (tenant_id, courier_id, content_hash, media_type, content, raster)
    values (${caller.tenantId}::uuid, ${courierId}::uuid, ${logo.content_hash}, ${logo.media_type}, ${logo.content},
      ${logo.raster})
    on conflict (tenant_id, courier_id) do update set content_hash = excluded.content_hash,
      media_type = excluded.media_type, content = excluded.content, raster = excluded.raster, raster_failed_at = null,
      stored_at = now()`);
}

/**
 * Stores the PNG of a logo, or that it cannot be drawn. Does nothing if the logo was replaced in the
 * meantime.
 */
export async function storeRaster(
  db: Pick<Db, 'applicationFilters'>,
  tx: Tx,
  caller: SystemCaller,
  drawn: { courierId: string; hash: string; raster: Buffer | null },
): Promise<number> {
  return tx.execute(sql`
    update courier_logos l set raster = ${drawn.raster}::bytea,
      raster_failed_at = case when ${drawn.raster}::bytea is null then now() end
    where ${tenantRows(db, caller, 'l')} and l.courier_id = ${drawn.courierId}::uuid and l.content_hash = ${drawn.hash}
      and l.raster is null`);
}

export const selectLogo = (db: Db, caller: SystemCaller, courierId: string, hash: string): Sql =>
  logoWith(sql`, l.content`, db, caller, courierId, hash);

/** As selectLogo, without the content. */
export const findLogo = (db: Db, caller: SystemCaller, courierId: string, hash: string): Sql =>
  logoWith(empty, db, caller, courierId, hash);

function logoWith(columns: Sql, db: Db, caller: SystemCaller, courierId: string, hash: string): Sql {
  return sql`
    select l.content_hash, l.media_type${columns} from courier_logos l
    where ${tenantRows(db, caller, 'l')} and l.courier_id = ${courierId}::uuid and l.content_hash = ${hash}`;
}
