import type pg from 'pg';
import { DEMO, DEMO_BACKUP_CODES } from '../../../src/development/demo/demo.js';

/** What exists of one courier, by where a request could name it. */
export type Pools = {
  /** Ids by table. */
  ids: Map<string, string[]>;
  /** Ids of siblings and of the other tenant. */
  strangers: string[];
  /** Stored texts by column. */
  texts: Map<string, string[]>;
};

const PER_TABLE = 200;

/** A sample of the ids and texts in every table: a courier's own, and those of its tenant that are no courier's. */
export async function readPools(owner: pg.Pool, courierId: string): Promise<Pools> {
  const { rows: columns } = await owner.query<{ table: string; column: string; type: string }>(
    `select table_name as table, column_name as column, data_type as type
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like '\\_%'
     order by table_name, column_name`,
  );
  // what the database keeps as a hash alone
  const secrets = {
    password: [DEMO.password],
    current_password: [DEMO.password],
    new_password: ['seven parcels on a wet quay'],
    code: [...DEMO_BACKUP_CODES, '072814'],
  };
  const pools: Pools = { ids: new Map(), texts: new Map(Object.entries(secrets)), strangers: [] };
  for (const { table, column, type } of columns) {
    if (type !== 'text' && !(column === 'id' && type === 'uuid')) continue;
    const has = (wanted: string) => columns.some((each) => each.table === table && each.column === wanted);
    const { own, others } = await sampleOf(owner, courierId, table, column, conditionOf(table, has));
    if (column === 'id') pools.strangers.push(...others);
    if (own.length === 0) continue;
    if (column === 'id') pools.ids.set(table, own);
    else pools.texts.set(column, [...(pools.texts.get(column) ?? []), ...own]);
  }
  const { rows: flagged } = await owner.query<{ id: string }>(
    "select id from prealerts where courier_id = $1 and status = 'flagged'",
    [courierId],
  );
  if (flagged.length > 0)
    pools.ids.set(
      'flagged prealerts',
      flagged.map(({ id }) => id),
    );
  return pools;
}

/** Whether a row is the courier's, or its tenant's alone. */
function conditionOf(table: string, has: (column: string) => boolean): string {
  const tenant = '(select c.tenant_id from couriers c where c.id = $1)';
  if (table === 'couriers') return 'id = $1';
  if (table === 'tenants') return `id = ${tenant}`;
  const isOfTenant = has('tenant_id') ? `tenant_id = ${tenant}` : 'true';
  return has('courier_id') ? `${isOfTenant} and coalesce(courier_id, $1) = $1` : isOfTenant;
}

/** The callers stay who they are: only users who were planted are disabled, or given another role or password. */
const isNameable = (table: string, column: string) =>
  table === 'users' && column === 'id' ? "username like 'spare-%' and username !~ '^spare-[12]$'" : 'true';

async function sampleOf(owner: pg.Pool, courierId: string, table: string, column: string, condition: string) {
  const { rows } = await owner.query<{ value: string; is_own: boolean }>(
    `select * from (
       select value, is_own, row_number() over (partition by is_own order by value) as place
       from (select distinct "${column}"::text as value, coalesce(${condition}, false) as is_own
         from "${table}" where ${isNameable(table, column)} and "${column}" is not null and $1::uuid is not null) as sampled) as placed
     where place <= case when is_own then ${PER_TABLE} else 10 end`,
    [courierId],
  );
  const valuesOf = (isOwn: boolean) => rows.filter((row) => row.is_own === isOwn).map(({ value }) => value);
  return { own: valuesOf(true), others: valuesOf(false) };
}

/** The ids that a field most likely means: `package_ids` means packages, `id` of getManifest manifests. */
export function idsFor({ ids }: Pools, field: string, operationId: string): string[] {
  const tables = [...ids.keys()].sort((a, b) => b.length - a.length);
  const named = (text: string) => {
    const words = text.toLowerCase().replaceAll('_', '');
    return tables.find((table) => words.includes(table.replaceAll('_', '').replace(/s$/, '')));
  };
  // the others can only be refused
  const isReview = operationId === 'reviewPrealert' && ids.has('flagged prealerts');
  const table = isReview ? 'flagged prealerts' : (named(field) ?? named(operationId));
  return table ? (ids.get(table) ?? []) : [];
}

/** Stored texts of the column that the field is named after, whatever its case. */
export function textsFor({ texts }: Pools, field: string): string[] {
  const column = field.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
  return texts.get(column) ?? [];
}
