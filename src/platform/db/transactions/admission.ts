import type pg from 'pg';
import type { Caller } from '../../identity/callers.js';
import { ApiError, type PlainCode } from '../../errors/errors.js';
import { isRefusedKey } from '../../errors/refused-keys.js';
import { STATEMENT_TIMEOUT_MS } from '../connections/pool.js';
import { END_STALE_SESSION } from '../connections/stale-sessions.js';
import type { Db } from '../database.js';
import type { Scope } from '../scope.js';
import { empty, once, raw, sql, type Sql } from '../statements.js';
import type { PlanMode } from './plans.js';

/** The scope of a transaction, and its database. */
export type Session = {
  db: Db;
  scope: Scope;
  /** Called once the database has admitted the caller. */
  noteAdmitted(): void;
  /** Whether the request has had a transaction, so that a refusal would waste its work. */
  isContinued(): boolean;
  /** For a replica: called with each connection before its transaction begins. Rejects if the replica must not serve it. */
  awaitReplay?: (client: pg.PoolClient) => Promise<void>;
};

/** `courier_id` is the owner of an API key. */
export type Admission = { outcome: 'ok' | 'scope_missing' | PlainCode; courier_id?: string };

/**
 * @throws ApiError token_invalid, token_expired, account_disabled or key_invalid if the database does not admit the caller, and
 *   unavailable if another cell serves the tenant
 */
export function admit({ db, scope, noteAdmitted }: Session, [row]: Admission[]): Admission {
  const { caller } = scope;
  if (!row) throw new Error('The scope statement returned no row.');
  if (row.outcome === 'unavailable') throw new ApiError('unavailable', { retryAfterSeconds: 1 });
  if (row.outcome === 'scope_missing') throw scopeMissing(caller);
  if (row.outcome !== 'ok') {
    // A credential that has ended may be in anybody's hands, so it no longer counts as its courier.
    if ((caller.kind === 'key' || caller.kind === 'token') && isRefusedKey(row.outcome))
      db.connectionShares.forgetKey(caller);
    throw new ApiError(row.outcome);
  }
  if (caller.kind === 'key' && row.courier_id) db.connectionShares.recordKeyOwner(caller, row.courier_id);
  // Now what its text claims is proven.
  if (caller.kind === 'token') db.connectionShares.recordKeyOwner(caller, caller.courierId);
  noteAdmitted();
  return row;
}

/** Only a service token has scopes. */
const scopeMissing = (caller: Caller): ApiError =>
  new ApiError('scope_missing', {
    args: { scopes: caller.kind === 'token' ? caller.scopes.join(' or ') : '' },
  });

const TIMEOUT = String(STATEMENT_TIMEOUT_MS);

/** Settings that a session behind a pooler does not keep. Without a pooler, pool.ts sets them once per connection. */
const SESSION_SETTINGS = sql`, set_config('timezone', 'UTC', true), set_config('jit', 'off', true),
  set_config('statement_timeout', ${TIMEOUT}, true), ${raw(END_STALE_SESSION)}`;

/**
 * For fixed statements, whose plan suits every value. PostgreSQL would otherwise plan the first five executions with their
 * values in each connection, and later ones too if it estimates more rows for an unknown array than for the given one.
 */
const ONE_PLAN = sql`, set_config('plan_cache_mode', 'force_generic_plan', true)`;

/** @param mode how the first statements of the transaction are planned */
export function enterWith({ db, scope }: Session, mode: PlanMode): Sql<Admission> {
  const also = db.isBehindPooler ? SESSION_SETTINGS : mode === 'auto' ? empty : ONE_PLAN;
  const { caller, actor } = scope;
  const isWidened = caller.kind === 'system' && actor.kind !== 'system';
  return isWidened ? enterTenantOf(actor, also) : enterScope(caller, also);
}

/** Checks the account of the actor, and then enters the scope of the whole tenant, or an empty scope if the account is refused. */
const enterTenantOf = (actor: Caller, also: Sql): Sql<Admission> => once`
  with account as materialized (${enterScope(actor)}),
    admitted as materialized (select ${actor.tenantId}::uuid as tenant_id from account where outcome = 'ok'),
    entered as materialized (select e.outcome from admitted cross join lateral enter_as_system(admitted.tenant_id) as e)
  select coalesce((select outcome from entered), account.outcome) as outcome${also} from account`;

/**
 * Sets the scope of the transaction and checks the caller's account, in one statement.
 *
 * @param also selected in addition to the outcome
 */
export function enterScope(caller: Caller, also: Sql = empty): Sql<Admission> {
  switch (caller.kind) {
    case 'user':
      return once`select outcome${also} from enter_with_token(${caller.tenantId}::uuid, ${caller.userId}::uuid,
        ${caller.tokenVersion}::integer, ${caller.expiresAt}::bigint, ${caller.changesPassword === true}::boolean,
        ${caller.sessionId ?? null}::uuid, ${caller.enrolsFactor === true}::boolean,
        ${caller.role}::text, ${caller.courierId}::uuid)`;
    case 'key':
      return once`select outcome, courier_id${also} from enter_with_key(${caller.tenantId}::uuid, ${caller.keyHash})`;
    case 'token':
      return once`select outcome${also} from enter_with_service_token(${caller.tenantId}::uuid, ${caller.tokenId}::uuid,
        ${caller.keyHash}, ${caller.courierId}::uuid, ${[...caller.scopes]}::text[], ${caller.address}::text)`;
    case 'system':
      return once`select outcome${also} from enter_as_system(${caller.tenantId}::uuid)`;
  }
}
