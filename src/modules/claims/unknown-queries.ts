import type { components } from '../../../generated/contract.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { columns } from '../../platform/db/columns.js';
import { allOf, ownRows } from '../../platform/db/filters.js';
import { sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import type { UserScope } from '../../platform/db/scope.js';
import { presentCodeColumn } from '../../platform/db/user-codes.js';
import { keyIn } from '../tracking-numbers/public.js';
import { documentsColumn, type DocumentRow } from './documents/queries.js';

const PACKAGE = columns('Package', 'p', [
  'id',
  'houseNumber',
  'trackingNumber',
  'trackingKey',
  'courierId',
  'status',
  'receivedAt',
]);

export type UnknownRow = RowOf<typeof PACKAGE> & { status: components['schemas']['PackageStatus'] };

/** Selects the packages without a customer before `query.before`, newest first, and one more than `limit`. */
export function pageOfUnknown(
  ctx: UserScope,
  { before, limit }: QueryOf<'listUnknownParcels'>,
): Sql<UnknownRow> {
  const conditions = allOf(ownRows(ctx, 'p'), before && sql`p.id < ${before}::uuid`);
  return sql`select ${PACKAGE} from packages p where p.user_code is null and ${conditions}
    order by p.id desc limit ${limit}::int + 1`;
}

export type ClaimantRow = {
  claimId: string | null;
  prealertId: string | null;
  courierId: string;
  userCode: string;
  trackingKey: string;
  since: Date;
  documents: DocumentRow[];
};

/** The most claimants of one page. Couriers have one claim and one pre-alert of a number each. */
const MAX_CLAIMANTS = 5_000;

/** Selects the open claims and the pending and flagged pre-alerts that have one of these keys, oldest first. */
export const claimantsOfKeys = (ctx: UserScope, keys: string[]): Sql<ClaimantRow> =>
  sql`select c.id as "claimId", null::uuid as "prealertId", c.courier_id as "courierId", c.user_code as "userCode",
      c.tracking_key as "trackingKey", c.created_at as since, ${documentsColumn(ctx)}
    from parcel_claims c where ${ownRows(ctx, 'c')} and ${keyIn('c', keys)} and c.status = 'open'
    union all
    select null, a.id, a.courier_id, ${presentCodeColumn('a')}, a.tracking_key, a.created_at, '[]'::json
    from prealerts a
    where ${ownRows(ctx, 'a')} and ${keyIn('a', keys)} and a.status in ('pending', 'flagged') and a.closed_at is null
    order by since, "claimId", "prealertId" limit ${MAX_CLAIMANTS}::int`;
