import { BACKGROUND } from '../../audit/audit.js';
import { makeContext } from '../../context/request-context.js';
import type { Db } from '../../db/database.js';
import { once, type Sql } from '../../db/statements.js';
import type { WriteOwner } from './write-allowance.js';

/** Adds bytes to the owner's level in a transaction of its own. Returns the level after it, in bytes. */
export const makeSettle =
  (bytesPerDay: number) =>
  async (owner: WriteOwner, bytes: number, db: Db): Promise<number> => {
    const ctx = makeContext(db, { kind: 'system', tenantId: owner.tenantId }, BACKGROUND);
    const [[row]] = await ctx.write([addToLevel(owner, bytes, bytesPerDay)]);
    if (!row) throw new Error('An upsert returned no row.');
    return row.used;
  };

/** A transaction that waited for the row has an earlier time than the row, in which nothing is refilled. */
const addToLevel = (
  { tenantId, kind, id }: WriteOwner,
  bytes: number,
  bytesPerDay: number,
): Sql<{ used: number }> => once`
  insert into write_allowances as a (tenant_id, principal_kind, principal_id, courier_id, used, settled_at)
  values (${tenantId}::uuid, ${kind}, ${id}::uuid, ${kind === 'courier' ? id : null}::uuid,
    greatest(0, ${Math.round(bytes)}::bigint), now())
  on conflict (tenant_id, principal_kind, principal_id) do update set
    used = greatest(0, greatest(0, a.used - ${bytesPerDay}::bigint
      * greatest(0, extract(epoch from excluded.settled_at - a.settled_at)) / 86400) + ${Math.round(bytes)}::bigint)::bigint,
    settled_at = greatest(a.settled_at, excluded.settled_at)
  returning a.used::float8 as used`;
