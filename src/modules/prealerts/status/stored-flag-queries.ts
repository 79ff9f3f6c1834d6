import { ownRows } from '../../../platform/db/filters.js';
import { once, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { keyIn } from '../../tracking-numbers/public.js';

/** Stores a flag of the courier and parcel, unless one is stored already. */
export function insertFlag({ tenantId }: UserScope, courierId: string, trackingKey: string): Sql {
  return once`insert into prealert_flags (tenant_id, courier_id, tracking_key)
    values (${tenantId}::uuid, ${courierId}::uuid, ${trackingKey})
    on conflict do nothing`;
}

/** Only for staff: a courier must not clear its own flag. */
export function deleteFlags(ctx: UserScope, courierId: string, keys: string[]): Sql {
  return once`delete from prealert_flags f
    where ${ownRows(ctx, 'f')} and f.courier_id = ${courierId}::uuid and ${keyIn('f', keys)}`;
}
