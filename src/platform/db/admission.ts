import { createHash } from 'node:crypto';
import type { Caller } from '../identity/callers.js';
import { ApiError, type PlainCode } from '../errors/errors.js';
import { STATEMENT_TIMEOUT_MS } from './connections/pool.js';
import type { Db } from './database.js';
import { empty, sql, type Sql } from './statements.js';

/** Whose transaction it is, and who is told that the database has admitted the caller. */
export type Session = { db: Db; caller: Caller; noteAdmitted(): void };

/** `courier_id` is the owner of a key. */
export type Admission = { outcome: 'ok' | PlainCode; courier_id?: string };

/** @throws ApiError token_invalid, token_expired, account_disabled or key_invalid when the caller may not enter */
export function admit({ db, caller, noteAdmitted }: Session, [row]: Admission[]): Admission {
  if (!row) throw new Error('The scope statement returned no row.');
  if (row.outcome !== 'ok') throw new ApiError(row.outcome);
  if (caller.kind === 'key' && row.courier_id)
    db.connectionShares.recordKeyOwner(caller.keyHash, row.courier_id);
  noteAdmitted();
  return row;
}

const TIMEOUT = String(STATEMENT_TIMEOUT_MS);

/** What a session behind a pooler cannot keep; elsewhere pool.ts sets it once per connection. */
const SESSION = sql`, set_config('timezone', 'UTC', true),
  set_config('statement_timeout', ${TIMEOUT}, true)`;

export const enterWith = ({ db, caller }: Session): Sql<Admission> =>
  enterScope(caller, db.isBehindPooler ? SESSION : empty);

/**
 * Sets the scope and asks, in one statement, whether the caller may still enter.
 *
 * @param also selected beside the outcome
 */
export function enterScope(caller: Caller, also: Sql = empty): Sql<Admission> {
  switch (caller.kind) {
    case 'user':
      return sql`select outcome${also} from enter_as_user(${caller.tenantId}::uuid, ${caller.userId}::uuid,
        ${caller.tokenVersion}::integer, ${caller.expiresAt}::bigint, ${caller.changesPassword === true}::boolean,
        ${caller.sessionId ?? null}::uuid, ${caller.enrolsFactor === true}::boolean)`;
    case 'key':
      return sql`select outcome, courier_id${also} from enter_with_key(${caller.tenantId}::uuid, ${caller.keyHash})`;
    case 'system':
      return sql`select 'ok' as outcome, set_config('app.tenant_id', ${caller.tenantId}, true),
        set_config('app.courier_id', 'all', true)${also}`;
  }
}

export type QueryConfig = { text: string; values: unknown[]; name?: string };
export type Prepare = (statement: Sql) => QueryConfig;

export const toQuery: Prepare = ({ text, values }) => ({ text, values });

/** Parsed and planned once per connection: planning took as long as the work of a submitted pre-alert. */
const toPrepared: Prepare = (statement) => ({ ...toQuery(statement), name: nameOf(statement.text) });

/** How statements of a fixed text are sent: a pooler's sessions know nothing of what another has prepared. */
export const preparing = (db: Db): Prepare => (db.isBehindPooler ? toQuery : toPrepared);

const names = new Map<string, string>();

/**
 * PostgreSQL's name of a prepared statement, made of its text, so that all users of a session mean the same by it. Only
 * for texts that are fixed, because each is kept for ever.
 */
function nameOf(text: string): string {
  const name = names.get(text) ?? `crossdock_${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
  names.set(text, name);
  return name;
}
