import type pg from 'pg';
import { readRow, readRows } from '../connections/rows.js';
import { READ_EFFECTIVE, READ_SETTINGS } from './statement.js';

/**
 * Settings of a role or database that change neither which rows a statement reads or writes nor how values are written: limits, the
 * planner, memory, logs and connections. Other checks of the doctor examine the last line.
 */
const HARMLESS = [
  /^(statement|lock|transaction|idle_in_transaction_session|idle_session|deadlock|client_connection_check)_(timeout|interval)$/,
  /^(log|debug|track|tcp|auto_explain|pg_stat_statements|jit|geqo|enable|cpu|parallel|max_parallel|vacuum|wal)[_.]/,
  /^(work_mem|maintenance_work_mem|hash_mem_multiplier|temp_buffers|temp_file_limit|logical_decoding_work_mem)$/,
  /^(random_page_cost|seq_page_cost|effective_cache_size|effective_io_concurrency|maintenance_io_concurrency|jit|geqo)$/,
  /^(plan_cache_mode|from_collapse_limit|join_collapse_limit|default_statistics_target|constraint_exclusion)$/,
  /^(cursor_tuple_fraction|min_parallel_(table|index)_scan_size|recursive_worktable_factor|compute_query_id)$/,
  /^(application_name|client_min_messages|lc_messages|gin_pending_list_limit|commit_delay|commit_siblings)$/,
  /^(timezone|synchronous_commit|default_transaction_read_only)$/i,
];

type Setting = { name: string; value: string; statement: string; rank: number };
type Effective = {
  search_path: string[];
  session_replication_role: string;
  row_security: string;
  role: string;
  prefix: string;
};

/** Settings that are judged by what applies to the connection, wherever they are set. */
const GUARDED = ['search_path', 'session_replication_role', 'row_security', 'role'];

/** Returns the settings of role, database and server with which the service would read other rows or check less. */
export async function checkLoginSettings(client: pg.ClientBase): Promise<LoginFault[]> {
  const { settings, effective } = await readLogin(client);
  const unknown = settings
    .filter(({ name }) => !GUARDED.includes(name) && !HARMLESS.some((harmless) => harmless.test(name)))
    .map(({ name, value, statement }) => ({
      isDangerous: true,
      message: `The setting ${name} = ${value} of the role or database may change what statements mean.`,
      remedy: `Run as a superuser: ${statement}`,
    }));
  return [...unknown, ...judgeEffective(forNewSession(effective, settings), settings)];
}

const readLogin = async (client: pg.ClientBase) => ({
  settings: await readRows<Setting>(client, READ_SETTINGS),
  effective: await readRow<Effective>(client, READ_EFFECTIVE),
});

/**
 * Behind a pooler a session may have begun before a setting was changed. The next one has it: that of the role in the database, else of the
 * role, of the database, or of every role. The last schemas of a search_path are found only by the connection itself.
 */
function forNewSession(effective: Effective, settings: Setting[]): Effective {
  const changed = { ...effective };
  for (const name of ['session_replication_role', 'row_security', 'role'] as const) {
    const [strongest] = settings.filter((setting) => setting.name === name).sort((a, b) => b.rank - a.rank);
    if (strongest) changed[name] = normal(strongest.value);
  }
  return changed;
}

/** The spellings of a Boolean setting. */
const normal = (value: string): string =>
  ({ off: 'off', false: 'off', no: 'off', '0': 'off', on: 'on', true: 'on', yes: 'on', '1': 'on' })[
    value.toLowerCase()
  ] ?? value;

/**
 * Returns the fault of the connection's search_path. Without the right one, no table is found, not even that of the migrations, so every
 * other check would be misled.
 */
export async function checkSearchPath(client: pg.ClientBase): Promise<LoginFault[]> {
  const { settings, effective } = await readLogin(client);
  const message = describePath(effective.search_path);
  return message === undefined
    ? []
    : [makeFault('search_path', 'public', message, effective.prefix, settings)];
}

function judgeEffective(effective: Effective, settings: Setting[]): LoginFault[] {
  const faults: [name: string, usual: string, message: string | undefined][] = [
    ['search_path', 'public', describePath(effective.search_path)],
    [
      'session_replication_role',
      'origin',
      unless(effective.session_replication_role, 'origin', 'so triggers and references are not checked'),
    ],
    ['row_security', 'on', unless(effective.row_security, 'on', 'so statements on rows of a tenant fail')],
    ['role', 'none', unless(effective.role, 'none', 'so the service has the rights of that role')],
  ];
  return faults.flatMap(([name, usual, message]) =>
    message === undefined ? [] : makeFault(name, usual, message, effective.prefix, settings),
  );
}

function makeFault(
  name: string,
  usual: string,
  message: string,
  prefix: string,
  settings: Setting[],
): LoginFault {
  const resets = settings.filter((setting) => setting.name === name).map(({ statement }) => statement);
  const statement = resets.length > 0 ? resets.join(' ') : `${prefix}${name} = ${usual};`;
  return {
    isDangerous: true,
    message: message.replace('*', name),
    remedy: `Run as a superuser: ${statement}`,
  };
}

const unless = (value: string, usual: string, effect: string): string | undefined =>
  value === usual ? undefined : `* is ${value}, ${effect}.`;

function describePath(schemas: string[]): string | undefined {
  if (schemas.join() === 'pg_catalog,public') return undefined;
  return `The schemas that * names are ${schemas.join(', ')}, not pg_catalog, public, so other tables may be read instead.`;
}

/** Something that the login of the service must not have, or another role that may use the database. */
export type LoginFault = {
  /** Whether staging and production must not serve with it. */
  isDangerous: boolean;
  message: string;
  /** Ends with statements that correct it. */
  remedy: string;
};
