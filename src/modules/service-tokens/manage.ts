import { hasPermission } from '../../platform/access/permissions.js';
import type { Secrets } from '../../platform/access/secrets.js';
import { newServiceToken } from '../../platform/access/service-tokens.js';
import { auditLater } from '../../platform/audit/audit.js';
import type { Page } from '../../platform/context/read-page.js';
import type { PersonContext } from '../../platform/context/request-context.js';
import type { BodyOf, QueryOf } from '../../platform/contract/types.js';
import { lockServiceTokens } from '../../platform/db/locks.js';
import type { PersonTx } from '../../platform/db/scope.js';
import type { Sql } from '../../platform/db/statements.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import type { PersonCaller } from '../../platform/identity/callers.js';
import { quotaOf, takeQuota } from '../../platform/limits/stored/quotas.js';
import { newId } from '../../platform/values/ids.js';
import { canonicalBlock } from '../../platform/values/network-address.js';
import { confirmOwnPassword, type Confirmation, type Settle } from '../auth/public.js';
import * as queries from './queries.js';
import { DEFAULT_DAYS, SCOPES_OF_STAFF, storedToken } from './stored-token.js';
import type { TokenRow } from './queries.js';
import { widens } from './widening.js';

type Body = BodyOf<'manageServiceTokens'>;
type Action<Name extends Body['action']> = Extract<Body, { action: Name }>;

/** What an action has done, and the secret if it has made one. */
export type Managed = { row: TokenRow; secret: string | null; isChanged: boolean };

const MAX_ACTIVE = 20;
const DEFAULT_OVERLAP_HOURS = 24;
const NEW_PER_DAY = quotaOf('service_tokens');
const CHANGES_PER_DAY = quotaOf('service_token_changes');
const ONLY_STAFF: readonly string[] = SCOPES_OF_STAFF;

/** @throws ApiError permission_denied, courier_not_found */
export async function listTokens(
  ctx: PersonContext,
  query: QueryOf<'listServiceTokens'>,
): Promise<Page<TokenRow>> {
  const owner = ownerOf(ctx.caller, query.courier_id);
  const wanted = { owner, isActive: query.is_active, page: query.page, limit: query.limit };
  const [rows, [counted], couriers] = await ctx.read([
    queries.pageOfTokens(ctx, wanted),
    queries.countTokens(ctx, wanted),
    queries.courierExists(ctx, owner ?? ctx.tenantId),
  ]);
  if (owner !== null && couriers.length === 0) throw new ApiError('courier_not_found');
  return { rows, total: counted?.total ?? 0 };
}

/** Who sends the action, whose password is among its fields. */
type Sender = Omit<Confirmation, 'password'>;

/** What the actions need besides the request's fields. `confirmation` has the sender. */
export type ManageDeps = { secrets: Secrets; confirmation: Sender };

/**
 * Creates a token. The caller confirms it with the own password: a token outlives the session that creates it, and also the account.
 *
 * @throws ApiError validation_failed, permission_denied, password_wrong, too_many_attempts, overloaded, courier_not_found,
 *   duplicate_token_name, too_many_tokens, quota_exceeded
 */
export async function createToken(
  ctx: PersonContext,
  { secrets, confirmation }: ManageDeps,
  {
    courier_id,
    name,
    scopes,
    addresses = [],
    expires_in_days: days = DEFAULT_DAYS,
    current_password: password,
  }: Action<'create'>,
): Promise<Managed> {
  const owner = ownerOf(ctx.caller, courier_id);
  assertGrantable(owner, scopes);
  const id = newId();
  const token = newServiceToken({ tokenId: id, courierId: owner });
  const fields = { name, scopes, addresses: readAddresses(addresses) };
  const store = (settle: Settle) =>
    ctx.write(async (tx) => {
      await settle(tx);
      await tx.query(lockServiceTokens(ctx.tenantId, owner));
      const couriers = owner === null ? [] : await tx.query(queries.courierExists(tx, owner));
      if (owner !== null && couriers.length === 0) throw new ApiError('courier_not_found');
      const active = await tx.query(queries.activeNames(tx, owner));
      if (active.length >= MAX_ACTIVE) throw new ApiError('too_many_tokens', { args: { limit: MAX_ACTIVE } });
      assertFree(active, name);
      const secret = storedToken(secrets, tx.tenantId, id, token);
      await tx.count(
        queries.insertToken(tx, { id, courierId: owner, ...fields, ...secret, expiresInDays: days }),
      );
      const row = await read(tx, id);
      auditLater(tx, 'service_token.created', id, { after: describe(row) });
      await takeQuota(tx, NEW_PER_DAY, ctx.caller, 1);
      return { row, secret: token, isChanged: true };
    });
  return confirmOwnPassword(ctx, { ...confirmation, password }, store);
}

/**
 * Changes a token. The caller confirms with the own password what lets the token do more, or longer, than before.
 *
 * @throws ApiError validation_failed, permission_denied, password_wrong, too_many_attempts, overloaded, service_token_not_found,
 *   service_token_ended, duplicate_token_name, too_many_tokens, quota_exceeded
 */
export async function updateToken(
  ctx: PersonContext,
  confirmation: Sender,
  {
    token_id: id,
    addresses,
    expires_in_days: expiresInDays,
    current_password: password,
    ...sent
  }: Action<'update'>,
): Promise<Managed> {
  const wanted = addresses && readAddresses(addresses);
  const store = (settle?: Settle) =>
    ctx.write(async (tx) => {
      await settle?.(tx);
      // The owner of a token never changes, so it may be read before its lock is taken.
      const { courierId } = await readOwn(tx, id);
      await tx.query(lockServiceTokens(ctx.tenantId, courierId));
      const stored = await lockOpen(tx, id);
      const fields = {
        name: sent.name ?? stored.name,
        scopes: sent.scopes ?? stored.scopes,
        addresses: wanted ?? stored.addresses,
      };
      assertGrantable(stored.courierId, fields.scopes);
      const active = await tx.query(queries.activeNames(tx, stored.courierId));
      const others = active.filter((other) => other.id !== id);
      assertFree(others, fields.name);
      // An expired token that is extended is active again.
      if (others.length >= MAX_ACTIVE) throw new ApiError('too_many_tokens', { args: { limit: MAX_ACTIVE } });
      if (expiresInDays === undefined && isSame(stored, fields))
        return { row: stored, secret: null, isChanged: false };
      await tx.count(queries.updateToken(tx, id, { ...fields, expiresInDays }));
      const row = await read(tx, id);
      // Compared as stored, so that the clock is the database's. The refusal rolls back.
      if (!settle && widens(stored, row)) throw invalidFieldError('current_password', 'required_to_widen');
      auditLater(tx, 'service_token.updated', id, { before: describe(stored), after: describe(row) });
      await takeQuota(tx, CHANGES_PER_DAY, ctx.caller, 1);
      return { row, secret: null, isChanged: true };
    });
  return password === undefined ? store() : confirmOwnPassword(ctx, { ...confirmation, password }, store);
}

/**
 * Makes a new secret. The old one also works for the overlap. The caller confirms it with the own password, as a new token.
 *
 * @throws ApiError permission_denied, password_wrong, too_many_attempts, overloaded, service_token_not_found, service_token_ended,
 *   quota_exceeded
 */
export async function rotateToken(
  ctx: PersonContext,
  { secrets, confirmation }: ManageDeps,
  {
    token_id: id,
    overlap_hours: overlapHours = DEFAULT_OVERLAP_HOURS,
    current_password: password,
  }: Action<'rotate'>,
): Promise<Managed> {
  const store = (settle: Settle) =>
    ctx.write(async (tx) => {
      await settle(tx);
      const stored = await lockOpen(tx, id);
      const token = newServiceToken({ tokenId: id, courierId: stored.courierId });
      const [present] = await tx.query(queries.digestCipherOf(tx, id));
      if (!present) throw new Error('A locked token has no secret.');
      const context = { tenantId: tx.tenantId, rowId: id };
      const digest = secrets.decrypt(present.digestCipher, { ...context, field: 'service_token' });
      const previousDigestCipher = secrets.encrypt(digest, { ...context, field: 'previous_service_token' });
      const secret = storedToken(secrets, tx.tenantId, id, token);
      await tx.count(queries.rotateToken(tx, id, { secret, previousDigestCipher, overlapHours }));
      const row = await read(tx, id);
      auditLater(tx, 'service_token.rotated', id, {
        before: { hint: stored.hint },
        after: { hint: row.hint, overlap_hours: overlapHours },
      });
      await takeQuota(tx, CHANGES_PER_DAY, ctx.caller, 1);
      return { row, secret: token, isChanged: true };
    });
  return confirmOwnPassword(ctx, { ...confirmation, password }, store);
}

/** Ends a token at once. @throws ApiError permission_denied, service_token_not_found */
export async function revokeToken(ctx: PersonContext, { token_id: id }: Action<'revoke'>): Promise<Managed> {
  return ctx.write(async (tx) => {
    const stored = await lockOwn(tx, id);
    if (stored.revokedAt) return { row: stored, secret: null, isChanged: false };
    await tx.count(queries.revokeToken(tx, id));
    const row = await read(tx, id);
    auditLater(tx, 'service_token.revoked', id, {
      before: { name: stored.name },
      after: { is_active: false },
    });
    return { row, secret: null, isChanged: true };
  });
}

/**
 * Returns the courier whose tokens a request concerns; null for those of the staff.
 * @throws ApiError permission_denied
 */
function ownerOf(caller: PersonCaller, courierId: string | undefined): string | null {
  const owner = caller.courierId ?? courierId ?? null;
  assertMayManage(caller, owner);
  return owner;
}

function assertMayManage({ role }: PersonCaller, owner: string | null): void {
  const permission = 'tenant:manage';
  if (owner === null && !hasPermission(role, permission))
    throw new ApiError('permission_denied', { variant: 'staff_tokens', args: { permission } });
}

const readOwn = (tx: PersonTx, id: string) => ownToken(tx, queries.tokenById(tx, id));
const lockOwn = (tx: PersonTx, id: string) => ownToken(tx, queries.lockedToken(tx, id));

async function ownToken(tx: PersonTx, statement: Sql<TokenRow>): Promise<TokenRow> {
  const [row] = await tx.query(statement);
  if (!row) throw new ApiError('service_token_not_found');
  assertMayManage(tx.caller, row.courierId);
  return row;
}

async function lockOpen(tx: PersonTx, id: string): Promise<TokenRow> {
  const row = await lockOwn(tx, id);
  if (row.revokedAt) throw new ApiError('service_token_ended');
  return row;
}

async function read(tx: PersonTx, id: string): Promise<TokenRow> {
  const [row] = await tx.query(queries.tokenById(tx, id));
  if (!row) throw new Error('A token was not stored.');
  return row;
}

/** A courier's token can never do what a courier's user cannot. */
function assertGrantable(owner: string | null, scopes: readonly string[]): void {
  const index = owner === null ? -1 : scopes.findIndex((scope) => ONLY_STAFF.includes(scope));
  if (index >= 0) throw invalidFieldError(`scopes[${index}]`, 'staff_scope');
}

function assertFree(active: readonly { name: string }[], name: string): void {
  if (active.some((other) => other.name === name)) throw new ApiError('duplicate_token_name');
}

/** @throws ApiError validation_failed */
function readAddresses(sent: readonly string[]): string[] {
  return sent.map((text, index) => {
    const block = canonicalBlock(text);
    if (block === undefined) throw invalidFieldError(`addresses[${index}]`, 'network');
    return block;
  });
}

type Changeable = Pick<TokenRow, 'name' | 'scopes' | 'addresses'>;

const isSame = (stored: Changeable, wanted: Changeable): boolean =>
  JSON.stringify([stored.name, stored.scopes, stored.addresses]) ===
  JSON.stringify([wanted.name, wanted.scopes, wanted.addresses]);

/** What the audit log shows. Never the secret or its hash. */
const describe = ({ courierId, name, scopes, addresses, expiresAt }: TokenRow) => ({
  courier_id: courierId,
  name,
  scopes,
  addresses,
  expires_at: expiresAt.toISOString(),
});
