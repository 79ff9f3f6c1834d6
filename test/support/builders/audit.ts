import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/demo.js';

export type InsertedEntry = {
  tenantId?: string;
  actorKind?: 'user' | 'api_key' | 'system';
  actorId?: string | null;
  action?: string;
  entity?: string;
  entityId?: string;
  requestId?: string;
  remarks?: string;
  /** Time of the entry, as PostgreSQL parses it. */
  at?: string;
};

/** Plants an audit entry, by default of an API key. Returns its id. */
export async function insertEntry(owner: pg.Pool | pg.Client, inserted: InsertedEntry = {}): Promise<string> {
  const {
    tenantId = DEMO.tenants.demo,
    actorKind = 'api_key',
    actorId = DEMO.couriers.IEX,
    action = 'package.updated',
    entity = 'package',
    entityId = randomUUID(),
    requestId = randomUUID(),
    remarks = null,
    at = 'now',
  } = inserted;
  const { rows } = await owner.query<{ id: string }>(
    `insert into audit_entries (tenant_id, id, at, actor_kind, actor_id, action, entity, entity_id, before, after, remarks,
       request_id)
     values ($1, new_id(), $2, $3, $4, $5, $6, $7, '{"weight": 1.50}', '{"weight": 2.5}', $8, $9) returning id`,
    [tenantId, at, actorKind, actorId, action, entity, entityId, remarks, requestId],
  );
  return rows[0]?.id ?? '';
}

/** Plants entries with different actors, entities, actions and days. Returns values that only some of them have. */
export async function insertAuditLog(
  owner: pg.Pool,
): Promise<{ entityId: string; requestId: string; day: string }> {
  const [entityId, requestId] = [randomUUID(), randomUUID()];
  const user = { actorKind: 'user', actorId: DEMO.users.admin } as const;
  await insertEntry(owner, { at: '2026-11-18 23:59:59.999Z', entityId });
  await insertEntry(owner, {
    ...user,
    at: '2026-11-19 00:00Z',
    entityId,
    action: 'package.received',
    requestId,
  });
  await insertEntry(owner, {
    ...user,
    at: '2026-11-19 23:59:59.999Z',
    entity: 'manifest',
    action: 'manifest.created',
  });
  await insertEntry(owner, { actorKind: 'system', actorId: null, at: '2026-11-20 00:00Z', requestId });
  await insertEntry(owner, { tenantId: DEMO.tenants.two });
  return { entityId, requestId, day: '2026-11-19' };
}
