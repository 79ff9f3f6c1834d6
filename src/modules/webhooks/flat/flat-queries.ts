import type { components } from '../../../../generated/contract.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { Customer } from '../../../platform/db/models/types.js';
import { once, type OrNull, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import { columns } from '../../../platform/db/columns.js';

type PackageStatus = components['schemas']['PackageStatus'];

/** `PackageStatus` of a flat package. Source: the contract's flatPackageCreated, which has the same table. */
export const STATUS_NUMBERS = {
  received: 0,
  shipped: 1,
  in_transit: 2,
  delivered: 4,
} satisfies Partial<Record<PackageStatus, number>>;

export type NumberedStatus = keyof typeof STATUS_NUMBERS;

const PROBLEMS = {
  on_hold: 'The package is on hold.',
  customs_hold: 'The package is held by customs.',
  returned: 'The package was returned.',
  lost: 'The package is lost.',
} satisfies Record<Exclude<PackageStatus, NumberedStatus>, string>;

const isNumbered = (status: PackageStatus): status is NumberedStatus => status in STATUS_NUMBERS;

/** Returns the problem of a status that has no number, or undefined for one that has. */
export const problemOfStatus = (status: PackageStatus): string | undefined =>
  isNumbered(status) ? undefined : PROBLEMS[status];

const EVENT = columns('Event', 'ev', { eventId: 'id' });
const PACKAGE = columns('Package', 'p', {
  packageId: 'id',
  courierId: 'courierId',
  manifestId: 'manifestId',
  trackingNumber: 'trackingNumber',
  houseNumber: 'houseNumber',
  userCode: 'userCode',
  shipper: 'shipper',
  description: 'description',
  status: 'status',
});
const MANIFEST = columns('Manifest', 'm', ['manifestNumber']);

/** The current state of the package of an event. Numbers are exact decimal text. */
export type FlatRow = RowOf<typeof EVENT> &
  RowOf<typeof PACKAGE> &
  OrNull<RowOf<typeof MANIFEST> & Pick<Customer, 'firstName' | 'lastName' | 'branch'>> & {
    courierId: string;
    weight: string;
    length: string | null;
    width: string | null;
    height: string | null;
    /** `YYYY-MM-DDTHH:MM:SS.mmm` in UTC. */
    receivedAt: string;
    isClaimed: boolean;
    /** A pre-alert of the courier for this number is flagged. */
    isFlagged: boolean;
    /** The receipt was voided, so the state is that of the event. */
    isVoided?: true;
    status: components['schemas']['PackageStatus'];
    /** The latest status that has a number. */
    numberedStatus: NumberedStatus;
  };

/** Selects the packages of the courier's events. A package that is not the courier's is left out. */
export function selectFlatPackages(ctx: SystemScope, courierId: string, eventIds: string[]): Sql<FlatRow> {
  const numbered = Object.keys(STATUS_NUMBERS);
  return once`
    select ${EVENT}, ${PACKAGE},
      ${MANIFEST}, coalesce(p.first_name, cu.first_name) as "firstName",
      coalesce(p.last_name, cu.last_name) as "lastName", cu.branch, p.weight_lb::text as weight,
      p.length_in::text as length, p.width_in::text as width, p.height_in::text as height,
      to_char(p.received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS') as "receivedAt",
      p.claimed_by is not null as "isClaimed",
      exists (select from prealerts a where ${tenantRows(ctx, 'a')} and a.tracking_key = p.tracking_key
        and a.courier_id = p.courier_id and a.status = 'flagged') as "isFlagged",
      case when p.status = any(${numbered}::text[]) then p.status else coalesce(
        (select e.status from package_events e where ${tenantRows(ctx, 'e')} and e.package_id = p.id
          and e.status = any(${numbered}::text[]) order by e.place desc limit 1), 'received') end as "numberedStatus"
    from events ev
    join packages p on ${tenantRows(ctx, 'p')} and p.id = ev.package_id and p.courier_id = ev.courier_id
    left join customers cu on ${tenantRows(ctx, 'cu')} and cu.courier_id = p.courier_id and cu.user_code = p.user_code
    left join manifests m on ${tenantRows(ctx, 'm')} and m.id = p.manifest_id
    where ${tenantRows(ctx, 'ev')} and ev.courier_id = ${courierId}::uuid and ev.id = any(${eventIds}::uuid[])`;
}

type VoidedEvent = { eventId: string; data: components['schemas']['EventPackage'] };

/** Selects, for the courier's events about a package whose receipt was voided, what the package was then. */
export const selectVoided = (ctx: SystemScope, courierId: string, eventIds: string[]): Sql<VoidedEvent> =>
  once`select ev.id as "eventId", voided.data
    from events ev
    join events voided on ${tenantRows(ctx, 'voided')} and voided.package_id = ev.package_id
      and voided.courier_id = ev.courier_id and voided.type = 'package.updated' and voided.data ? 'voided_at'
    where ${tenantRows(ctx, 'ev')} and ev.courier_id = ${courierId}::uuid and ev.id = any(${eventIds}::uuid[])`;
