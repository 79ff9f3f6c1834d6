import { createHash } from 'node:crypto';
import type { Db } from '../database.js';
import { once, type Sql } from '../statements.js';
import type { QueryConfig } from './submit.js';

/** `auto`: with the values of each execution, or as PostgreSQL prefers. `force_generic_plan`: once for all values. */
export type PlanMode = 'auto' | 'force_generic_plan';

/** A query; `isSetting` marks one that only changes how the next are planned, whose result nobody asked for. */
export type PlannedQuery = QueryConfig & { isSetting?: true };

/** A statement of SQL or of a model. */
export type Statement = QueryConfig & Pick<Sql, 'isFixed'>;

/** Turns the statements of one transaction into queries, in their order. */
export type Planner = (statements: readonly Statement[]) => PlannedQuery[];

/**
 * PostgreSQL takes the kind of plan from a setting of the transaction. The setting applies to all statements, named or not. So the
 * planner inserts a statement that changes it wherever the kind changes: for `fixed fixed sql sql fixed` before the third and the fifth
 * (decision 0090).
 *
 * @param first the mode in which the transaction begins; see firstMode
 */
export function makePlanner(db: Db, first: PlanMode): Planner {
  let mode: PlanMode | undefined = first;
  // There are no modes behind a pooler, because there are no prepared statements.
  if (db.isBehindPooler) return (statements) => statements.map(toQuery);
  return (statements) =>
    statements.flatMap((statement) => {
      const query = toNamed(statement);
      const wanted = modeOf(statement);
      // It also restores the settings that the transaction had at the savepoint.
      if (ROLLBACK_TO.test(statement.text)) mode = undefined;
      if (wanted === undefined || wanted === mode) return [query];
      mode = wanted;
      return [{ ...toNamed(SWITCHES[wanted]), isSetting: true as const }, query];
    });
}

/** For the statements that begin and end a transaction. A pooler's sessions do not share prepared statements. */
export const namedFor = (db: Db): ((statement: Statement) => QueryConfig) =>
  db.isBehindPooler ? toQuery : toNamed;

export const ROLLBACK_TO = /^\s*rollback to\b/i;

/** Returns how the first statements of a transaction are planned. It is set together with the scope. */
export function firstMode(statements: readonly Statement[]): PlanMode {
  for (const statement of statements) {
    const mode = modeOf(statement);
    if (mode) return mode;
  }
  return 'auto';
}

/** Undefined for a statement without values, which has only one plan. */
function modeOf({ values, isFixed }: Statement): PlanMode | undefined {
  if (values.length === 0) return undefined;
  return isFixed ? 'force_generic_plan' : 'auto';
}

/** Not `set local`, which PostgreSQL warns of if the statements are sent without `begin`. */
const SWITCHES: Record<PlanMode, Sql> = {
  auto: once`select set_config('plan_cache_mode', 'auto', true)`,
  force_generic_plan: once`select set_config('plan_cache_mode', 'force_generic_plan', true)`,
};

const toQuery = ({ text, values, rowMode, types }: Statement): QueryConfig => ({
  text,
  values,
  rowMode,
  types,
});

/** Fixed statements are prepared once per connection, because planning took as long as executing a submitted pre-alert. */
const toNamed = (statement: Statement): QueryConfig => {
  if (!statement.isFixed) return toQuery(statement);
  const { text, values } = statement;
  return { text, values, name: nameOf(text) };
};

const names = new Map<string, string>();

/**
 * Returns PostgreSQL's name of a prepared statement. It is a hash of the text, so that all users of a session give a
 * statement the same name. Only for fixed texts, because names are never removed.
 */
function nameOf(text: string): string {
  const name = names.get(text) ?? `crossdock_${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
  names.set(text, name);
  return name;
}
