import type { KeyCaller, UserCaller } from '../identity/callers.js';
import { tenantRows, type FilterScope } from '../db/filters.js';
import { addUsage, type Quota } from '../limits/stored/quotas.js';
import { once, sql, type Sql } from '../db/statements.js';
import type { IdempotencyKey } from './idempotency-key.js';

/** A request's key and its owner: a user, a service token, or the courier of an API key. */
export type OwnedKey = { caller: UserCaller | KeyCaller } & IdempotencyKey;

/** Source: the contract, "Repeating a request". The retention job deletes the rows after the same time. */
const LIFETIME = sql`interval '24 hours'`;

/** A service token has its own keys, like a user. */
const kindOf = ({ caller }: OwnedKey) => (caller.kind === 'key' ? 'courier' : 'user');

/** For an API key, its courier, which is the courier of the transaction's scope. */
const idOf = ({ caller }: OwnedKey) =>
  caller.kind === 'key' ? sql`app_courier()` : sql`${caller.userId}::uuid`;

/** Locks the key until the end of the transaction. Returns false at once if another transaction has locked it. */
export const tryLockKey = (key: OwnedKey): Sql<{ is_locked: boolean }> => once`
  select pg_try_advisory_xact_lock(hashtextextended(
    ${`idempotency key ${key.caller.tenantId} ${kindOf(key)} ${key.keyHash} `} || ${idOf(key)}::text, 0)) as is_locked`;

type Scope = FilterScope<{ tenantId: string }>;

export type StoredResponseRow = { id: string; request_hash: string; answer_cipher: string };

export const findStoredResponse = (scope: Scope, key: OwnedKey): Sql<StoredResponseRow> => once`
  select k.id, k.request_hash, k.answer_cipher from idempotency_keys k
  where ${tenantRows(scope, 'k')} and k.principal_kind = ${kindOf(key)} and k.principal_id = ${idOf(key)}
    and k.key_hash = ${key.keyHash} and k.created_at > now() - ${LIFETIME}`;

/** For a user, not the scope's courier: some requests of users write in the scope of the system. */
const courierOf = ({ caller }: OwnedKey) =>
  caller.kind === 'key' ? sql`app_courier()` : sql`${caller.courierId}::uuid`;

export type NewStoredResponse = { id: string; operationId: string; answerCipher: string };

/** What a row takes beside the response, with its indexes. */
const ROW_BYTES = 300;

/** Returns one row, or none if a response is already stored. Its bytes count against the caller's quota. */
export const insertStoredResponse = (
  key: OwnedKey,
  { id, operationId, answerCipher }: NewStoredResponse,
  quota: Quota,
): Sql<{ id: string }> => once`
  with stored as (
    insert into idempotency_keys as k (tenant_id, id, courier_id, principal_kind, principal_id, key_hash, request_hash,
      operation_id, answer_cipher)
    values (${key.caller.tenantId}::uuid, ${id}::uuid, ${courierOf(key)}, ${kindOf(key)}, ${idOf(key)}, ${key.keyHash},
      ${key.requestHash}, ${operationId}, ${answerCipher})
    on conflict (tenant_id, principal_kind, principal_id, key_hash) do update
      set id = excluded.id, courier_id = excluded.courier_id, request_hash = excluded.request_hash,
        operation_id = excluded.operation_id, answer_cipher = excluded.answer_cipher, created_at = excluded.created_at
      where k.created_at <= now() - ${LIFETIME}
    returning k.id
  ), counted as (
    ${addUsage(key.caller.tenantId, quota, key.caller, sql`(select count(*) * ${ROW_BYTES + answerCipher.length}::int from stored)`)}
  )
  select id from stored`;
