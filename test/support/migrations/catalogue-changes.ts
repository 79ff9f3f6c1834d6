import type pg from 'pg';
import { headersOf } from '../../../src/platform/db/migrations/migration-files.js';

// Compares the catalogue before and after a migration, to find what processes of the previous release do not survive. A linter of
// scripts does not know what existed before.

export type Entry = {
  kind: keyof typeof RULES;
  name: string;
  /** The table that it belongs to, or its own name. */
  table: string;
  definition: string;
  /** The columns that it concerns. */
  columns: string[];
};

type Rule = { dropped?: string; changed?: string; added?: string };

const LATER = 'Stop using it in this release, and drop it in the next one.';
const REJECTS =
  'The previous release may write rows that it rejects. Enforce it in the service first, and add it in the next release.';
const COPY = 'Add a new column, fill both, and drop the old one in a later release.';

/** What to do instead of dropping, changing or adding something. Without an entry it is allowed. */
const RULES = {
  table: {
    dropped: LATER,
    changed: 'The previous release may see or write other rows. Add a policy instead.',
  },
  column: { dropped: LATER, changed: COPY },
  'not null': {
    added: 'The previous release may write null. Fill the column, and add it in the next release.',
  },
  'required column': { added: 'The previous release does not write it. Give it a default, or allow null.' },
  constraint: { added: REJECTS, changed: REJECTS },
  'unique index': { added: REJECTS, changed: REJECTS },
  policy: {
    dropped: 'The previous release would see or write other rows. Drop it in the next release.',
    changed:
      'The previous release would see or write other rows. Add a second policy, and drop the first one later.',
  },
  'restrictive policy': { added: REJECTS, changed: REJECTS },
  trigger: {
    dropped: 'The previous release relies on it. Drop it in the next release.',
    changed: 'The previous release relies on it. Review that it still works, and state it.',
    added: 'It also runs for writes of the previous release. Review that it accepts them, and state it.',
  },
  function: {
    dropped: 'The previous release calls it. Keep it, and drop it in the next release.',
    changed: 'The previous release calls it. Add a function with another name.',
  },
  right: { dropped: 'The previous release uses it. Revoke it in the next release.' },
} satisfies Record<string, Rule>;

/** Returns one line per change that the previous release does not survive, unless the script says that it was reviewed. */
export function dangersOf(before: Entry[], after: Entry[], script: string): string[] {
  const reviewed = headersOf(script, 'reviewed');
  return changesOf(before, after)
    .filter(({ what }) => !reviewed.some((line) => line.startsWith(`${what}: `)))
    .map(({ what, advice }) => `${what}. ${advice} Or state "-- reviewed: ${what}: <reason>".`);
}

type Change = { what: string; advice: string };

function changesOf(before: Entry[], after: Entry[]): Change[] {
  const old = byKey(before);
  const now = byKey(after);
  const dropped: Change[] = [];
  const changed: Change[] = [];
  const added: Change[] = [];
  for (const [key, entry] of old) {
    const rule: Rule = RULES[entry.kind];
    const present = now.get(key);
    if (!present && rule.dropped && !isGone(entry, now))
      dropped.push({ what: `${key} dropped`, advice: rule.dropped });
    if (present && present.definition !== entry.definition && rule.changed)
      changed.push({ what: `${key} changed`, advice: rule.changed });
  }
  for (const [key, entry] of now) {
    const rule: Rule = RULES[entry.kind];
    if (!old.has(key) && rule.added && concernsOldRows(entry, old))
      added.push({ what: `${key} added`, advice: rule.added });
  }
  return [...dropped, ...changed, ...added];
}

const byKey = (entries: Entry[]) => new Map(entries.map((entry) => [`${entry.kind} ${entry.name}`, entry]));

/** Whether the entry's table was dropped, which is reported once. */
const isGone = ({ kind, table }: Entry, now: Map<string, Entry>): boolean =>
  kind !== 'table' && kind !== 'function' && kind !== 'right' && !now.has(`table ${table}`);

/** Whether the previous release writes the table, and for most kinds also one of the columns. */
function concernsOldRows({ kind, table, columns }: Entry, old: Map<string, Entry>): boolean {
  if (!old.has(`table ${table}`)) return false;
  const isOld = (column: string) => old.has(`column ${table}.${column}`);
  // A column that loses its default, or is new. One that becomes not null is already reported as such.
  if (kind === 'required column')
    return columns.every((column) => !isOld(column) || old.has(`not null ${table}.${column}`));
  return columns.length === 0 || columns.some(isOld);
}

/** Returns what the previous release depends on. */
export async function readCatalogue(client: pg.ClientBase): Promise<Entry[]> {
  const { rows } = await client.query<Entry>(CATALOGUE);
  return rows;
}

const SCHEMAS = `('public', 'queue', 'installation')`;
const TABLES = `pg_class t join pg_namespace n on n.oid = t.relnamespace and n.nspname in ${SCHEMAS}`;
const TABLE = `case when n.nspname = 'public' then t.relname else n.nspname || '.' || t.relname end`;
const COLUMN_NAMES = (numbers: string) =>
  `array(select attname::text from pg_attribute a where a.attrelid = t.oid and a.attnum = any(${numbers}))`;

const CATALOGUE = `
  select 'table' as kind, ${TABLE} as name, ${TABLE} as table,
    concat_ws(' ', t.relkind, t.relrowsecurity, t.relforcerowsecurity) as definition, '{}'::text[] as columns
  from ${TABLES} where t.relkind in ('r', 'p', 'v', 'm', 'S')
  union all
  select kind, ${TABLE} || '.' || a.attname, ${TABLE}, case kind when 'column' then format_type(a.atttypid, a.atttypmod) else '' end,
    array[a.attname::text]
  from ${TABLES} join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  cross join unnest(array['column', 'not null', 'required column']) as kind
  where t.relkind in ('r', 'p', 'v', 'm') and (kind = 'column' or a.attnotnull)
    and (kind <> 'required column' or not a.atthasdef and a.attidentity = '')
  union all
  select 'constraint', ${TABLE} || '.' || c.conname, ${TABLE}, pg_get_constraintdef(c.oid), ${COLUMN_NAMES('c.conkey')}
  from ${TABLES} join pg_constraint c on c.conrelid = t.oid where c.contype in ('c', 'f', 'p', 'u', 'x')
  union all
  select 'unique index', i.indexrelid::regclass::text, ${TABLE}, pg_get_indexdef(i.indexrelid), ${COLUMN_NAMES('i.indkey::int2[]')}
  from ${TABLES} join pg_index i on i.indrelid = t.oid and i.indisunique
  where not exists (select from pg_constraint where conindid = i.indexrelid)
  union all
  select case when p.polpermissive then 'policy' else 'restrictive policy' end, p.polname || ' on ' || ${TABLE}, ${TABLE},
    concat_ws(' ', p.polcmd, p.polroles::regrole[], pg_get_expr(p.polqual, t.oid), 'check', pg_get_expr(p.polwithcheck, t.oid)), '{}'
  from ${TABLES} join pg_policy p on p.polrelid = t.oid
  union all
  select 'trigger', g.tgname || ' on ' || ${TABLE}, ${TABLE}, concat_ws(' ', g.tgenabled, pg_get_triggerdef(g.oid)), '{}'
  from ${TABLES} join pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal
  union all
  select 'function', f.oid::regprocedure::text, f.oid::regprocedure::text,
    concat_ws(' ', pg_get_function_result(f.oid), f.prosecdef, f.proowner::regrole), '{}'
  from pg_proc f join pg_namespace n on n.oid = f.pronamespace and n.nspname in ${SCHEMAS}
  where not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e')
  union all
  select 'right', r.right_name || ' on ' || ${TABLE}, ${TABLE}, '', '{}'
  from ${TABLES} cross join unnest(array['select', 'insert', 'update', 'delete']) as r (right_name)
  where t.relkind in ('r', 'p', 'v') and has_table_privilege('crossdock_app', t.oid, r.right_name)
  union all
  select 'right', 'execute on ' || f.oid::regprocedure, f.oid::regprocedure::text, '', '{}'
  from pg_proc f join pg_namespace n on n.oid = f.pronamespace and n.nspname in ${SCHEMAS}
  where has_function_privilege('crossdock_app', f.oid, 'execute')
    and not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e')`;
