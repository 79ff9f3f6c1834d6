import { ACTOR_NAME, entriesOf, joinActors } from '../../../platform/audit/entries.js';
import type { DataOf, QueryOf } from '../../../platform/contract/types.js';
import { tenantRows } from '../../../platform/db/filters.js';
import type { AuditEntry } from '../../../platform/db/models/types.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';

export type ChangesQuery = QueryOf<'listManifestChanges'>;

type Shown = DataOf<'listManifestChanges'>[number];

export type ChangeRow = Pick<AuditEntry, 'id' | 'at' | 'action' | 'remarks'> &
  Pick<Shown, 'before' | 'after' | 'packages'> & { changedBy: string | null; houseNumbers: string[] };

/** A change may name thousands of packages. People look for one of a few. */
const SHOWN_PACKAGES = 20;

/** Selects the page before `query.before`, newest first, and one row more to detect a next page. */
export const pageOfChanges = (ctx: UserScope, query: ChangesQuery): Sql<ChangeRow> =>
  sql`select e.id, e.at, e.action, e.before, nullif(e.after - 'package_ids', '{}'::jsonb) as after, e.remarks, ${ACTOR_NAME} as "changedBy",
      coalesce(jsonb_array_length(e.after -> 'package_ids'), 0) as packages,
      array(select p.house_number from packages p
        where ${tenantRows(ctx, 'p')} and p.tenant_id = e.tenant_id and p.id in (
          select named.id::uuid from jsonb_array_elements_text(e.after -> 'package_ids') with ordinality as named (id, place)
          where named.place <= ${SHOWN_PACKAGES}::int)
        order by p.house_number) as "houseNumbers"
    from ${entriesOf(ctx, { entity: 'manifest', id: query.manifest_id }, query)}
    ${joinActors(ctx)}
    order by e.at desc, e.id desc`;
