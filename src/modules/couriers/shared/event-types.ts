import { operations } from '../../../../generated/operations.js';
import type { components } from '../../../../generated/contract.js';
import { allOf, tenantRows } from '../../../platform/db/filters.js';
import type { UserScope, UserTx } from '../../../platform/db/scope.js';
import { raw, sql, type Sql } from '../../../platform/db/statements.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { TokenCaller } from '../../../platform/identity/callers.js';

export type EventType = components['schemas']['CourierEventType'];

/** What an event is about: the first part of its type. */
type Kind = EventType extends `${infer First}.${string}` ? First : never;
type OptionalKind = Exclude<Kind, 'package'>;

/**
 * The operations that show what events of a kind contain. A token that may not call one of them reads no such events (decision 0145).
 * Whoever reads events at all reads those of packages.
 */
export const SHOWN_BY = {
  prealert: operations.listPrealerts,
  bill: operations.listCourierBills,
  manifest: operations.listManifests,
  consignee: operations.listCustomers,
} satisfies Record<OptionalKind, unknown>;

// Object.keys() returns the keys of this literal.
const KINDS = Object.keys(SHOWN_BY) as OptionalKind[];

/**
 * The condition on the type of an event that a service token may read: its scopes are in the database. Undefined for users, because
 * each role that reads events may call all of these operations.
 *
 * @param alias of the table of events in the statement
 */
export function readableTypes(ctx: UserScope, alias: string): Sql | undefined {
  const { caller } = ctx;
  if (caller.kind !== 'token') return undefined;
  return allOf(
    ...KINDS.map(
      (kind) => sql`(${raw(alias)}.type not like ${`${kind}.%`} or ${hasScope(ctx, caller, kind)})`,
    ),
  );
}

const hasScope = (ctx: UserScope, { tokenId }: TokenCaller, kind: OptionalKind): Sql =>
  sql`exists (select from service_tokens t
    where ${tenantRows(ctx, 't')} and t.id = ${tokenId}::uuid and t.scopes && ${[...SHOWN_BY[kind].scopes]}::text[])`;

/**
 * Makes sure that a service token has the scopes that show what events of the types contain.
 * @throws ApiError scope_missing
 */
export async function assertMayRead(tx: UserTx, { tokenId }: TokenCaller, types: EventType[]): Promise<void> {
  const needed = KINDS.filter((kind) => types.some((type) => type.startsWith(`${kind}.`)));
  if (needed.length === 0) return;
  const [token] = await tx.query(scopesOf(tx, tokenId));
  for (const kind of needed) {
    const { scopes } = SHOWN_BY[kind];
    if (!scopes.some((scope) => token?.scopes.includes(scope)))
      throw new ApiError('scope_missing', { args: { scopes: scopes.join(' or ') } });
  }
}

const scopesOf = (scope: UserScope, tokenId: string): Sql<{ scopes: string[] }> =>
  sql`select t.scopes from service_tokens t where ${tenantRows(scope, 't')} and t.id = ${tokenId}::uuid`;
