import { columns } from '../../platform/db/columns.js';
import { ownRows, tenantRows } from '../../platform/db/filters.js';
import type { TrackingLink, TrackingSettings } from '../../platform/db/models/types.js';
import type { UserScope } from '../../platform/db/scope.js';
import { once, sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import { isOfLink, isShown } from './link-rule.js';

const SETTINGS = columns('TrackingSettings', 's', [
  'isEnabled',
  'isSearchEnabled',
  'showsAmountDue',
  'currency',
  'timeZone',
  'transitDays',
  'noteEn',
  'noteEs',
  'updatedAt',
]);

/** The settings of a courier. `updatedAt` is null if it has never changed them. */
export type SettingsRow = Omit<RowOf<typeof SETTINGS>, 'updatedAt'> & { updatedAt: Date | null };

/** A courier and its settings, which are null if it has never changed them. */
export type StoredSettings = { courierId: string; code: string } & {
  [Name in keyof SettingsRow]: SettingsRow[Name] | null;
};

export const findSettings = (ctx: UserScope, courierId: string): Sql<StoredSettings> =>
  once`select c.id as "courierId", c.code, ${SETTINGS} from couriers c
    left join tracking_settings s on ${ownRows(ctx, 's')} and s.tenant_id = c.tenant_id and s.courier_id = c.id
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;

/** SQL, so that the database's clock dates the change. */
export const storeSettings = (
  { tenantId }: UserScope,
  courierId: string,
  s: Omit<TrackingSettings, 'tenantId' | 'courierId' | 'updatedAt'>,
): Sql =>
  once`insert into tracking_settings (tenant_id, courier_id, is_enabled, is_search_enabled, shows_amount_due, currency, time_zone, transit_days,
      note_en, note_es)
    values (${tenantId}::uuid, ${courierId}::uuid, ${s.isEnabled}::boolean, ${s.isSearchEnabled}::boolean, ${s.showsAmountDue}::boolean, ${s.currency},
      ${s.timeZone}, ${s.transitDays}::int, ${s.noteEn}, ${s.noteEs})
    on conflict (tenant_id, courier_id) do update set is_enabled = excluded.is_enabled, is_search_enabled = excluded.is_search_enabled,
      shows_amount_due = excluded.shows_amount_due, currency = excluded.currency, time_zone = excluded.time_zone,
      transit_days = excluded.transit_days, note_en = excluded.note_en, note_es = excluded.note_es, updated_at = now()`;

/** A package that may get a link. Its customer is null if it has none. */
export type LinkablePackage = {
  id: string;
  courierId: string | null;
  userCode: string | null;
  customerId: string | null;
};

/** Selects a package and locks it until the end of the transaction, so that its customer stays and its links are made one by one. */
export const lockedPackage = (ctx: UserScope, id: string): Sql<LinkablePackage> =>
  once`select p.id, p.courier_id as "courierId", p.user_code as "userCode",
      (select u.id from customers u where ${ownRows(ctx, 'u')} and u.tenant_id = p.tenant_id and u.courier_id = p.courier_id
        and u.user_code = p.user_code) as "customerId"
    from packages p where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid for no key update of p`;

export const findPackage = (ctx: UserScope, id: string): Sql<{ id: string }> =>
  once`select p.id from packages p where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid`;

const LINK = columns('TrackingLink', 'l', [
  'id',
  'packageId',
  'courierId',
  'keyCipher',
  'amountDue',
  'createdAt',
]);

/** `isPublic` says whether the page is shown now. */
export type LinkRow = RowOf<typeof LINK> & { isPublic: boolean };

/** The link of a package, unless it has ended because the package has another customer now. */
export const findLink = (ctx: UserScope, packageId: string): Sql<LinkRow> =>
  once`select ${LINK}, coalesce(${isShown('p')} and exists (select from couriers c
        join tracking_settings s on ${ownRows(ctx, 's')} and s.tenant_id = c.tenant_id and s.courier_id = c.id and s.is_enabled
        where ${tenantRows(ctx, 'c')} and c.id = l.courier_id and c.is_active), false) as "isPublic"
    from tracking_links l join packages p on ${ownRows(ctx, 'p')} and ${isOfLink('p', 'l')}
    where ${ownRows(ctx, 'l')} and l.package_id = ${packageId}::uuid`;

export type NewLink = Omit<TrackingLink, 'tenantId' | 'createdAt' | 'amountDue'> & {
  amountDue: string | null;
};

export const insertLink = ({ tenantId }: UserScope, l: NewLink): Sql =>
  once`insert into tracking_links (tenant_id, id, courier_id, package_id, customer_id, user_code, key_hash, key_cipher, amount_due)
    values (${tenantId}::uuid, ${l.id}::uuid, ${l.courierId}::uuid, ${l.packageId}::uuid, ${l.customerId}::uuid, ${l.userCode}, ${l.keyHash},
      ${l.keyCipher}, ${l.amountDue}::numeric)`;

/** Deletes the link that a courier has for a package, also one of an earlier customer. */
export const deleteLink = (ctx: UserScope, { id, courierId }: LinkablePackage): Sql =>
  once`delete from tracking_links l where ${ownRows(ctx, 'l')} and l.package_id = ${id}::uuid and l.courier_id = ${courierId}::uuid`;

export const setAmountDue = (ctx: UserScope, id: string, amount: string | null): Sql =>
  sql`update tracking_links l set amount_due = ${amount}::numeric where ${ownRows(ctx, 'l')} and l.id = ${id}::uuid`;
