import type { PackageStatus } from '../../packages/public.js';
import { columns } from '../../../platform/db/columns.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import { once, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { MediaType } from '../../couriers/public.js';
import { keyIn } from '../../tracking-numbers/public.js';
import { currencyOf, zoneOf } from '../../tenant-settings/public.js';
import { isOfLink, isShown } from '../link-rule.js';

const SETTINGS = columns('TrackingSettings', 's', ['transitDays', 'noteEn', 'noteEs']);

/** A courier as its pages show it. Its logo is null if it has none. */
export type CourierRow = { courierName: string; courierId: string } & (
  | { logoHash: string; logoMediaType: MediaType }
  | { logoHash: null; logoMediaType: null }
);

const COURIER = sql`c.id as "courierId", c.name as "courierName", g.content_hash as "logoHash", g.media_type as "logoMediaType"`;

/** The couriers whose pages are shown: active ones that have switched them on. */
const shownCouriers = (ctx: SystemScope): Sql =>
  sql`couriers c join tracking_settings s on ${tenantRows(ctx, 's')} and s.tenant_id = c.tenant_id and s.courier_id = c.id and s.is_enabled
    left join courier_logos g on ${tenantRows(ctx, 'g')} and g.tenant_id = c.tenant_id and g.courier_id = c.id`;

/** What happened to a parcel, and on which day in the time zone of the page. */
export type Step = { status: PackageStatus; on: string };

/** What the page shows. Nothing else of the parcel is read. */
export type PageRow = CourierRow &
  RowOf<typeof SETTINGS> & {
    trackingNumber: string;
    status: PackageStatus;
    branch: string | null;
    /** YYYY-MM-DD, while the parcel is not there. */
    flightDate: string | null;
    expectedDate: string | null;
    amountDue: string | null;
    currency: string;
    /** Newest first. */
    steps: Step[];
  };

/** A package has up to 1,000 events. */
const MAX_STEPS = sql`40`;

const zone = (ctx: SystemScope): Sql => sql`coalesce(s.time_zone, ${zoneOf(ctx)})`;

const steps = (ctx: SystemScope): Sql =>
  sql`coalesce((select jsonb_agg(jsonb_build_object('status', e.status, 'on', (e.occurred_at at time zone ${zone(ctx)})::date)
      order by e.place desc) from (select e.status, e.occurred_at, e.place from package_events e
    where ${tenantRows(ctx, 'e')} and e.tenant_id = p.tenant_id and e.package_id = p.id order by e.place desc limit ${MAX_STEPS}) e), '[]')`;

/** The page columns of a package `p`, its customer `u`, its manifest `m`, its courier `c` with the settings `s`, and its link `l`. */
const page = (ctx: SystemScope): Sql =>
  sql`${COURIER}, ${SETTINGS}, p.tracking_number as "trackingNumber", p.status, u.branch, m.flight_date::text as "flightDate",
    (m.flight_date + s.transit_days)::text as "expectedDate", case when s.shows_amount_due then l.amount_due end as "amountDue",
    coalesce(s.currency, ${currencyOf(ctx)}) as currency, ${steps(ctx)} as steps`;

/** The flight of a parcel that is on its way. */
const flights = (ctx: SystemScope): Sql =>
  sql`left join manifests m on ${tenantRows(ctx, 'm')} and m.tenant_id = p.tenant_id and m.id = p.manifest_id
    and m.status in ('ready', 'shipped', 'completed') and p.status not in ('delivered', 'returned', 'lost')`;

/** The page of a link: one that has not ended, of a courier whose pages are shown. */
export const pageOfLink = (ctx: SystemScope, keyHash: string): Sql<PageRow> =>
  once`select ${page(ctx)}
    from tracking_links l
    join packages p on ${tenantRows(ctx, 'p')} and ${isOfLink('p', 'l')} and ${isShown('p')}
    join customers u on ${tenantRows(ctx, 'u')} and u.tenant_id = l.tenant_id and u.id = l.customer_id
    join (${shownCouriers(ctx)}) on ${tenantRows(ctx, 'c')} and c.tenant_id = l.tenant_id and c.id = l.courier_id and c.is_active
    ${flights(ctx)}
    where ${tenantRows(ctx, 'l')} and l.key_hash = ${keyHash}`;

/** The courier of a search page: an active one that has switched both its pages and the search on. */
export const searchedCourier = (ctx: SystemScope, code: string): Sql<CourierRow> =>
  once`select ${COURIER} from ${shownCouriers(ctx)}
    where ${tenantRows(ctx, 'c')} and upper(c.code) = upper(${code}) and c.is_active and s.is_search_enabled order by c.code limit 1`;

/** A package that a number may mean, and the last name of its customer. */
export type FoundRow = { id: string; trackingKey: string; lastName: string };

/** The most packages that are compared with one number. A short number can be the end of several. */
const MAX_FOUND = sql`8`;

/** The packages of a courier with one of the keys, which have a customer. */
export const foundPackages = (ctx: SystemScope, code: string, keys: string[]): Sql<FoundRow> =>
  sql`select p.id, p.tracking_key as "trackingKey", u.last_name as "lastName"
    from packages p
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = p.tenant_id and c.id = p.courier_id and upper(c.code) = upper(${code})
    join customers u on ${tenantRows(ctx, 'u')} and u.tenant_id = p.tenant_id and u.courier_id = p.courier_id and u.user_code = p.user_code
    where ${tenantRows(ctx, 'p')} and ${keyIn('p', keys)} and ${isShown('p')} order by p.id limit ${MAX_FOUND}`;

/** The page of a package that was found. */
export const pageOfPackage = (ctx: SystemScope, id: string): Sql<PageRow> =>
  once`select ${page(ctx)}
    from packages p
    join customers u on ${tenantRows(ctx, 'u')} and u.tenant_id = p.tenant_id and u.courier_id = p.courier_id and u.user_code = p.user_code
    join (${shownCouriers(ctx)}) on ${tenantRows(ctx, 'c')} and c.tenant_id = p.tenant_id and c.id = p.courier_id and c.is_active
    left join tracking_links l on ${tenantRows(ctx, 'l')} and ${isOfLink('p', 'l')}
    ${flights(ctx)}
    where ${tenantRows(ctx, 'p')} and p.id = ${id}::uuid`;
