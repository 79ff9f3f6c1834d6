import { BACKGROUND } from '../../platform/audit/audit.js';
import { makeContext } from '../../platform/context/request-context.js';
import type { Db } from '../../platform/db/database.js';
import { tenantRows } from '../../platform/db/filters.js';
import type { SystemScope } from '../../platform/db/scope.js';
import { once, raw, type Sql } from '../../platform/db/statements.js';
import type { Call } from '../../platform/identity/call.js';
import { LEFT_OUT, START_OF_DAY } from './left-out.js';

type Lost = { call: Pick<Call, 'credential'>; tenantId: string; db: Db };
type Counted = { tenantId: string; db: Db; counts: Map<string, number> };

/** Counts the calls of couriers that the memory had no room for, so that `left_out_today` names them. Those of unproven keys name nobody. */
export function makeLostCalls() {
  let counted = new Map<string, Counted>();
  return {
    add({ call, tenantId, db }: Lost): void {
      const { courierId } = call.credential;
      if (courierId === undefined) return;
      const own = counted.get(tenantId) ?? { tenantId, db, counts: new Map<string, number>() };
      counted.set(tenantId, own);
      own.counts.set(courierId, (own.counts.get(courierId) ?? 0) + 1);
    },
    /** What cannot be written is not counted. A tenant that fails keeps no other one from being counted. */
    async write(onError: (error: unknown) => void): Promise<void> {
      const due = counted;
      counted = new Map();
      for (const { tenantId, db, counts } of due.values()) {
        const ctx = makeContext(db, { kind: 'system', tenantId }, BACKGROUND);
        await ctx.write([countLeftOut(ctx, counts)]).catch(onError);
      }
    },
  };
}

/** Couriers that the tenant does not have are left out. */
const countLeftOut = (ctx: SystemScope, counts: Map<string, number>): Sql => once`
  insert into courier_quotas as q (tenant_id, courier_id, kind, period_start, used)
  select c.tenant_id, c.id, ${raw(`'${LEFT_OUT}'`)}, ${START_OF_DAY}, lost.count
  from unnest(${[...counts.keys()]}::uuid[], ${[...counts.values()]}::bigint[]) as lost (courier_id, count)
  join couriers c on ${tenantRows(ctx, 'c')} and c.id = lost.courier_id
  order by c.id
  on conflict (tenant_id, courier_id, kind, period_start) do update set used = q.used + excluded.used`;
