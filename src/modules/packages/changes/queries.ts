import { ACTOR_NAME, entriesOf, joinActors } from '../../../platform/audit/entries.js';
import type { DataOf, QueryOf } from '../../../platform/contract/types.js';
import type { AuditEntry } from '../../../platform/db/models/types.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';

export type ChangesQuery = QueryOf<'listPackageChanges'>;

type Shown = DataOf<'listPackageChanges'>[number];

export type ChangeRow = Pick<AuditEntry, 'id' | 'at' | 'action' | 'remarks'> &
  Pick<Shown, 'before' | 'after'> & { changedBy: string | null };

/** Selects the page before `query.before`, newest first, and one row more to detect a next page. */
export const pageOfChanges = (ctx: UserScope, query: ChangesQuery): Sql<ChangeRow> =>
  sql`select e.id, e.at, e.action, e.before, e.after, e.remarks, ${ACTOR_NAME} as "changedBy"
    from ${entriesOf(ctx, { entity: 'package', id: query.package_id }, query)}
    ${joinActors(ctx)}
    order by e.at desc, e.id desc`;
