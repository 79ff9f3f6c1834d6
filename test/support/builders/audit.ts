import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { DEMO } from '../../../src/development/demo/demo.js';

export type PlantedEntry = {
  tenantId?: string;
  actorKind?: 'user' | 'api_key' | 'system';
  actorId?: string | null;
  action?: string;
  entity?: string;
  entityId?: string;
  requestId?: string;
  remarks?: string;
  /** When, as PostgreSQL reads it. */
  at?: string;
};

/** An audit entry, by default of a key, as if somebody had changed something. Answers its id. */
export async function plantEntry(owner: pg.Pool, planted: PlantedEntry = {}): Promise<string> {
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
  } = planted;
  const { rows } = await owner.query<{ id: string }>(
    `insert into audit_entries (tenant_id, id, at, actor_kind, actor_id, action, entity, entity_id, before, after, remarks,
       request_id)
     values ($1, new_id(), $2, $3, $4, $5, $6, $7, '{"weight": 1.50}', '{"weight": 2.5}', $8, $9) returning id`,
    [tenantId, at, actorKind, actorId, action, entity, entityId, remarks, requestId],
  );
  return rows[0]?.id ?? '';
}

/** Some of everything: actors, entities, actions, days. Answers what some have and others have not. */
export async function plantAuditLog(
  owner: pg.Pool,
): Promise<{ entityId: string; requestId: string; day: string }> {
  const [entityId, requestId] = [randomUUID(), randomUUID()];
  const user = { actorKind: 'user', actorId: DEMO.users.admin } as const;
  await plantEntry(owner, { at: '2026-11-18 23:59:59.999Z', entityId });
  await plantEntry(owner, {
    ...user,
    at: '2026-11-19 00:00Z',
    entityId,
    action: 'package.received',
    requestId,
  });
  await plantEntry(owner, {
    ...user,
    at: '2026-11-19 23:59:59.999Z',
    entity: 'manifest',
    action: 'manifest.created',
  });
  await plantEntry(owner, { actorKind: 'system', actorId: null, at: '2026-11-20 00:00Z', requestId });
  await plantEntry(owner, { tenantId: DEMO.tenants.two });
  return { entityId, requestId, day: '2026-11-19' };
}
