import { columns } from '../../platform/db/columns.js';
import { allOf, ownRows, tenantRows } from '../../platform/db/filters.js';
import type { ServiceToken } from '../../platform/db/models/types.js';
import { limitTo } from '../../platform/db/pages.js';
import type { Scope, SystemScope, UserScope } from '../../platform/db/scope.js';
import { once, sql, type Sql } from '../../platform/db/statements.js';
import type { components } from '../../../generated/contract.js';
import type { Use } from '../../platform/context/last-use.js';
import type { TokenCaller } from '../../platform/identity/callers.js';

const FIELDS = [
  'id',
  'courierId',
  'name',
  'scopes',
  'addresses',
  'hint',
  'createdBy',
  'createdAt',
  'rotatedAt',
  'expiresAt',
  'lastUsedAt',
  'lastUsedAddress',
  'revokedAt',
] as const;

/** A token as lists show it. A previous secret is shown while it works. */
export type TokenRow = Omit<
  Pick<ServiceToken, (typeof FIELDS)[number] | 'previousHint' | 'previousEndsAt'>,
  'scopes'
> & {
  scopes: components['schemas']['ServiceTokenScope'][];
  isActive: boolean;
};

const COLUMNS = columns('ServiceToken', 't', FIELDS);
const IS_ACTIVE = sql`(t.revoked_at is null and t.expires_at > now())`;
const HAS_PREVIOUS = sql`(${IS_ACTIVE} and t.previous_ends_at > now())`;
const SHOWN = sql`${COLUMNS}, ${IS_ACTIVE} as "isActive",
  case when ${HAS_PREVIOUS} then t.previous_hint end as "previousHint",
  case when ${HAS_PREVIOUS} then t.previous_ends_at end as "previousEndsAt"`;

/** The owner of tokens: a courier, or the staff if it is null. */
type Owner = string | null;

const ofOwner = (owner: Owner): Sql =>
  owner === null ? sql`t.courier_id is null` : sql`t.courier_id = ${owner}::uuid`;

type Wanted = { owner: Owner; isActive: boolean; page: number; limit: number };

const matching = (ctx: UserScope, { owner, isActive }: Wanted): Sql =>
  allOf(ownRows(ctx, 't'), ofOwner(owner), isActive ? IS_ACTIVE : sql`not ${IS_ACTIVE}`);

export const pageOfTokens = (ctx: UserScope, wanted: Wanted): Sql<TokenRow> =>
  sql`select ${SHOWN} from service_tokens t where ${matching(ctx, wanted)}
    order by t.created_at desc, t.id desc ${limitTo(wanted)}`;

export const countTokens = (ctx: UserScope, wanted: Wanted): Sql<{ total: number }> =>
  sql`select count(*)::int as total from service_tokens t where ${matching(ctx, wanted)}`;

export const tokenById = (ctx: UserScope, id: string): Sql<TokenRow> =>
  once`select ${SHOWN} from service_tokens t where ${ownRows(ctx, 't')} and t.id = ${id}::uuid`;

/** A token that is locked until the end of the transaction. */
export const lockedToken = (ctx: UserScope, id: string): Sql<TokenRow> =>
  once`select ${SHOWN} from service_tokens t where ${ownRows(ctx, 't')} and t.id = ${id}::uuid for no key update`;

export const courierExists = (ctx: UserScope, id: string): Sql<{ id: string }> =>
  once`select c.id from couriers c where ${tenantRows(ctx, 'c')} and c.id = ${id}::uuid`;

/** The names of the owner's active tokens, at most 20. */
export const activeNames = (ctx: UserScope, owner: Owner): Sql<{ id: string; name: string }> =>
  sql`select t.id, t.name from service_tokens t where ${ownRows(ctx, 't')} and ${ofOwner(owner)} and ${IS_ACTIVE}`;

/** Counts the tokens that a user has created and that work. An index has those of a user that are not revoked. */
export const countOpenTokensOf = (ctx: Scope, userId: string): Sql<{ total: number }> =>
  sql`select count(*)::int as total from service_tokens t
    where ${tenantRows(ctx, 't')} and t.created_by = ${userId}::uuid and ${IS_ACTIVE}`;

export type Secret = Pick<ServiceToken, 'tokenHash' | 'digestCipher' | 'hint'>;

export type NewToken = Pick<ServiceToken, 'id' | 'courierId' | 'name' | 'scopes' | 'addresses'> &
  Secret & { expiresInDays: number };

export const insertToken = ({ tenantId, caller }: UserScope, token: NewToken): Sql =>
  once`insert into service_tokens (tenant_id, id, courier_id, name, scopes, addresses, token_hash, digest_cipher, hint,
      created_by, expires_at)
    values (${tenantId}::uuid, ${token.id}::uuid, ${token.courierId}::uuid, ${token.name}, ${token.scopes}::text[],
      ${token.addresses}::text[], ${token.tokenHash}, ${token.digestCipher}, ${token.hint}, ${caller.userId}::uuid,
      now() + make_interval(days => ${token.expiresInDays}::int))`;

export type TokenChange = Pick<ServiceToken, 'name' | 'scopes' | 'addresses'> & {
  /** Undefined if the expiry stays. */
  expiresInDays: number | undefined;
};

export const updateToken = (ctx: UserScope, id: string, change: TokenChange): Sql =>
  once`update service_tokens t set name = ${change.name}, scopes = ${change.scopes}::text[],
      addresses = ${change.addresses}::text[],
      expires_at = coalesce(now() + make_interval(days => ${change.expiresInDays ?? null}::int), t.expires_at)
    where ${ownRows(ctx, 't')} and t.id = ${id}::uuid`;

type Rotation = { secret: Secret; previousDigestCipher: string; overlapHours: number };

/** The present secret becomes the previous one. */
export const rotateToken = (
  ctx: UserScope,
  id: string,
  { secret, previousDigestCipher, overlapHours }: Rotation,
): Sql =>
  once`update service_tokens t set previous_hash = t.token_hash, previous_digest_cipher = ${previousDigestCipher},
      previous_hint = t.hint, previous_ends_at = now() + make_interval(hours => ${overlapHours}::int), rotated_at = now(),
      token_hash = ${secret.tokenHash}, digest_cipher = ${secret.digestCipher}, hint = ${secret.hint}
    where ${ownRows(ctx, 't')} and t.id = ${id}::uuid`;

export const digestCipherOf = (ctx: UserScope, id: string): Sql<{ digestCipher: string }> =>
  once`select t.digest_cipher as "digestCipher" from service_tokens t where ${ownRows(ctx, 't')} and t.id = ${id}::uuid`;

export const revokeToken = (ctx: UserScope, id: string): Sql =>
  once`update service_tokens t set revoked_at = now()
    where ${ownRows(ctx, 't')} and t.id = ${id}::uuid and t.revoked_at is null`;

/** What is known of a token that was used. */
export type Used = Pick<TokenCaller, 'tenantId' | 'tokenId' | 'address'>;

/** Returns the tokens written. Skips locked rows, so that two servers that write the same tokens cannot deadlock. */
export const writeLastUse = (ctx: SystemScope, uses: Use<Used>[]): Sql<{ id: string }> => sql`
  with locked as (
    select t.id, used.age, used.address from service_tokens t
    join unnest(${uses.map(({ id }) => id)}::uuid[], ${uses.map(({ ageS }) => ageS)}::float8[],
      ${uses.map(({ caller }) => caller.address)}::text[]) as used (id, age, address) on used.id = t.id
    where ${tenantRows(ctx, 't')} for update of t skip locked
  )
  update service_tokens t set last_used_at = greatest(t.last_used_at, now() - make_interval(secs => locked.age)),
    last_used_address = locked.address
  from locked where ${tenantRows(ctx, 't')} and t.id = locked.id
  returning t.id`;
