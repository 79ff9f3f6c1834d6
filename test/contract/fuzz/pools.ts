import type pg from 'pg';
import { DEMO, DEMO_BACKUP_CODES } from '../../../fixtures/demo/demo.js';
import { TOKEN_OF_CLIENT } from './requests.js';

/** Existing ids and texts of one courier, by the field in which a request could send them. */
export type Pools = {
  /** Ids per table. */
  ids: Map<string, string[]>;
  /** Ids of other couriers and of the other tenant. */
  foreignIds: string[];
  /** Stored texts per column. */
  texts: Map<string, string[]>;
};

const PER_TABLE = 200;

/** Samples ids and texts of every table: the courier's own and those of its tenant without a courier. */
export async function readPools(owner: pg.Pool, courierId: string): Promise<Pools> {
  const { rows: columns } = await owner.query<{ table: string; column: string; type: string }>(
    `select table_name as table, column_name as column, data_type as type
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like '\\_%'
     order by table_name, column_name`,
  );
  // The database stores only hashes of these.
  const secrets = {
    password: [DEMO.password],
    current_password: [DEMO.password],
    new_password: ['seven parcels on a wet quay'],
    code: [...DEMO_BACKUP_CODES, '072814'],
  };
  const pools: Pools = { ids: new Map(), texts: new Map(Object.entries(secrets)), foreignIds: [] };
  for (const { table, column, type } of columns) {
    if (type !== 'text' && !(column === 'id' && type === 'uuid')) continue;
    const has = (wanted: string) => columns.some((each) => each.table === table && each.column === wanted);
    const { own, others } = await sampleOf(owner, courierId, table, column, conditionOf(table, has));
    if (column === 'id') pools.foreignIds.push(...others);
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

/** Returns the condition that a row belongs to the courier, or to its tenant and no courier. */
function conditionOf(table: string, has: (column: string) => boolean): string {
  const tenant = '(select c.tenant_id from couriers c where c.id = $1)';
  if (table === 'couriers') return 'id = $1';
  if (table === 'tenants') return `id = ${tenant}`;
  const isOfTenant = has('tenant_id') ? `tenant_id = ${tenant}` : 'true';
  return has('courier_id') ? `${isOfTenant} and coalesce(courier_id, $1) = $1` : isOfTenant;
}

/** Limits users to the inserted ones, because requests may disable them or change their role or password; and tokens to those that nobody uses. */
function isNameable(table: string, column: string): string {
  if (column !== 'id') return 'true';
  if (table === 'users') return "username like 'spare-%' and username !~ '^spare-[12]$'";
  return table === 'service_tokens' ? `name <> '${TOKEN_OF_CLIENT}'` : 'true';
}

async function sampleOf(owner: pg.Pool, courierId: string, table: string, column: string, condition: string) {
  const { rows } = await owner.query<{ value: string; is_own: boolean }>(
    `select * from (
       select value, is_own, row_number() over (partition by is_own order by value) as position
       from (select distinct "${column}"::text as value, coalesce(${condition}, false) as is_own
         from "${table}" where ${isNameable(table, column)} and "${column}" is not null and $1::uuid is not null) as sampled) as placed
     where position <= case when is_own then ${PER_TABLE} else 10 end`,
    [courierId],
  );
  const valuesOf = (isOwn: boolean) => rows.filter((row) => row.is_own === isOwn).map(({ value }) => value);
  return { own: valuesOf(true), others: valuesOf(false) };
}

/**
 * Returns the ids that a field most likely refers to: `package_ids` refers to packages, `id` of getManifest
 * to manifests.
 */
export function idsFor({ ids }: Pools, field: string, operationId: string): string[] {
  const tables = [...ids.keys()].sort((a, b) => b.length - a.length);
  const tableNamedIn = (text: string) => {
    const words = text.toLowerCase().replaceAll('_', '');
    return tables.find((table) =>
      words.includes(table.replaceAll('_', '').replace(/ies$/, 'y').replace(/s$/, '')),
    );
  };
  // The operation is named after the documents of claims.
  if (operationId === 'addClaimDocument') return ids.get('parcel_claims') ?? [];
  // Only flagged pre-alerts can be reviewed.
  const isReview = operationId === 'reviewPrealert' && ids.has('flagged prealerts');
  const table = isReview ? 'flagged prealerts' : (tableNamedIn(field) ?? tableNamedIn(operationId));
  return table ? (ids.get(table) ?? []) : [];
}

/** Returns stored texts of the column that the field is named after, in snake case or camel case. */
export function textsFor({ texts }: Pools, field: string): string[] {
  const column = field.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
  return texts.get(column) ?? [];
}
