import type { Caller } from '../identity/callers.js';
import type { Scope, Tx } from '../db/scope.js';
import { once, sql, type Sql } from '../db/statements.js';
import { newId } from '../values/ids.js';

export type AuditFact = {
  /** Noun and past participle, for example `manifest.created`. */
  action: string;
  entity:
    | 'prealert'
    | 'package'
    | 'parcel_claim'
    | 'dispatch'
    | 'manifest'
    | 'user'
    | 'service_token'
    | 'feed'
    | 'tracking_link'
    | 'courier'
    | 'customer'
    | 'customer_sync'
    | 'bill'
    | 'warehouse'
    | 'carrier'
    | 'scan'
    | 'tenant';
  entityId: string;
  /** The previous values of the changed columns; absent for a creation. */
  before?: Record<string, unknown>;
  /** Their new values; absent for a deletion. */
  after?: Record<string, unknown>;
  remarks?: string | undefined;
  /** The user who acts, if the request has no credential yet: at a login. */
  by?: string;
};

/** The request id of background jobs and scripts, which serve no request. */
export const BACKGROUND = 'background';

type AuditScope = Pick<Scope, 'actor' | 'requestId'>;

/** Returns the statement that appends facts to the audit trail. Run it in the transaction of the change. */
export function audit({ actor: caller, requestId }: AuditScope, ...facts: AuditFact[]): Sql {
  const rows = facts.map(({ action, entity, entityId, before, after, remarks, by }) => ({
    id: newId(),
    action,
    entity,
    entity_id: entityId,
    before: before ?? null,
    after: after ?? null,
    remarks: remarks ?? null,
    actor_kind: by === undefined ? actorKind(caller) : 'user',
    actor_id: by ?? null,
  }));
  return once`insert into audit_entries
      (tenant_id, id, actor_kind, actor_id, action, entity, entity_id, before, after, remarks, request_id)
    select ${caller.tenantId}::uuid, id, actor_kind, coalesce(fact.actor_id, ${actorId(caller)}), action, entity, entity_id,
      before, after, remarks, ${requestId}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as fact
      (id uuid, actor_kind text, actor_id uuid, action text, entity text, entity_id uuid, before jsonb, after jsonb, remarks text)`;
}

/** An action that begins with the entity that it changes. */
type EntityAction = `${AuditFact['entity']}.${string}`;
type FactDetails = Omit<AuditFact, 'action' | 'entity' | 'entityId'>;

/** Returns the fact of an action. */
export function factOf(action: EntityAction, entityId: string, details: FactDetails = {}): AuditFact {
  // The type of the action says so.
  const entity = action.slice(0, action.indexOf('.')) as AuditFact['entity'];
  return { action, entity, entityId, ...details };
}

/** Appends one fact to the audit trail with the next statement or the commit of the transaction. */
export const auditLater = (
  tx: Pick<Tx, 'actor' | 'requestId' | 'later'>,
  action: EntityAction,
  entityId: string,
  details: FactDetails = {},
): void => tx.later(audit(tx, factOf(action, entityId, details)));

/**
 * Inserts audit entries for facts that a query selects, for bulk changes.
 *
 * @param facts selects id, action, entity, entity_id, before, after, remarks
 */
export function auditRows({ actor: caller, requestId }: AuditScope, facts: Sql): Sql {
  return sql`insert into audit_entries
      (tenant_id, id, actor_kind, actor_id, action, entity, entity_id, before, after, remarks, request_id)
    select ${caller.tenantId}::uuid, id, ${actorKind(caller)}, ${actorId(caller)}, action, entity, entity_id,
      before, after, remarks, ${requestId}
    from (${facts}) as facts`;
}

/** `api_key` is a system with a credential: an API key, or a service token. The contract's list of kinds is closed. */
const actorKind = (caller: Caller) =>
  ({ user: 'user', token: 'api_key', key: 'api_key', system: 'system' })[caller.kind];

/** Returns the user or the service token; for an API key, its courier, which is the courier of the transaction's scope. */
export function actorId(caller: Caller): Sql {
  return caller.kind === 'user' || caller.kind === 'token' ? sql`${caller.userId}::uuid` : sql`app_courier()`;
}
