import { BACKGROUND } from '../../audit/audit.js';
import { makeContext } from '../../context/request-context.js';
import type { Db } from '../../db/database.js';
import { once, type Sql } from '../../db/statements.js';
import type { WriteLimits, WriteOwner } from './write-allowance.js';

/** Adds bytes or secrets to the owner's level in a transaction of its own. Returns the level after it. */
export const makeSettle =
  (limits: WriteLimits) =>
  async (owner: WriteOwner, amount: number, db: Db): Promise<number> => {
    const ctx = makeContext(db, { kind: 'system', tenantId: owner.tenantId }, BACKGROUND);
    const [[row]] = await ctx.write([addToLevel(owner, amount, limits[owner.kind])]);
    if (!row) throw new Error('An upsert returned no row.');
    return row.used;
  };

/** A transaction that waited for the row has an earlier time than the row, in which nothing is refilled. */
const addToLevel = (
  { tenantId, kind, id }: WriteOwner,
  amount: number,
  perDay: number,
): Sql<{ used: number }> => once`
  insert into write_allowances as a (tenant_id, principal_kind, principal_id, courier_id, used, settled_at)
  values (${tenantId}::uuid, ${kind}, ${id}::uuid, ${kind === 'courier' ? id : null}::uuid,
    greatest(0, ${Math.round(amount)}::bigint), now())
  on conflict (tenant_id, principal_kind, principal_id) do update set
    used = greatest(0, greatest(0, a.used - ${perDay}::bigint
      * greatest(0, extract(epoch from excluded.settled_at - a.settled_at)) / 86400) + ${Math.round(amount)}::bigint)::bigint,
    settled_at = greatest(a.settled_at, excluded.settled_at)
  returning a.used::float8 as used`;
