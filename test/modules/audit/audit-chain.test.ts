import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { sql } from '../../../src/platform/db/statements.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { createTenant } from '../../../src/modules/tenants/tenant.js';
import { rounds } from '../../support/harness/effort.js';
import { insertEntry } from '../../support/builders/audit.js';
import { freshNumber } from '../../support/builders/couriers.js';
import { untilAdmitted } from '../../support/service/service.js';
import { withAuditChains } from './audit-chains.js';

const { api, service, log, verify, appendEverything, insertChain } = withAuditChains();

async function chainOf(tenantId: string = DEMO.tenants.demo): Promise<{ sequence: number; entry: string }[]> {
  const { rows } = await service().owner.query<{ sequence: number; entry: string }>(
    'select sequence::int, entry_id as entry from audit_links where tenant_id = $1 order by sequence',
    [tenantId],
  );
  return rows;
}

describe('appending to the chain', () => {
  test('includes an entry that commits late', async () => {
    const late = await service().owner.connect();
    await late.query('begin');
    const { rows } = await late.query<{ id: string }>(
      `insert into audit_entries (tenant_id, id, at, actor_kind, action, entity, entity_id, request_id)
       values ($1, new_id(), now() - interval '2 days', 'system', 'x', 'x', $2, 'late') returning id`,
      [DEMO.tenants.demo, randomUUID()],
    );
    const others = await insertChain(3);
    expect(await chainOf()).toHaveLength(3);
    await late.query('commit');
    late.release();
    const { data } = await log({ request_id: 'late' }).ok();
    expect(data).toEqual([expect.objectContaining({ audit_id: rows[0]?.id, sequence: 4 })]);
    expect((await chainOf()).map(({ entry }) => entry)).toEqual([...others, rows[0]?.id]);
    expect(await verify()).toMatchObject({ intact: true, verified: 4, unsealed: 0, inserted: 0 });
  });

  test('skips an entry that is rolled back', async () => {
    const broken = await service().owner.connect();
    await broken.query('begin');
    await broken.query(
      `insert into audit_entries (tenant_id, id, actor_kind, action, entity, entity_id, request_id)
       values ($1, new_id(), 'system', 'x', 'x', $2, 'broken')`,
      [DEMO.tenants.demo, randomUUID()],
    );
    await broken.query('rollback');
    broken.release();
    expect(await verify()).toMatchObject({ intact: true, verified: 0, unsealed: 0 });
  });

  const WRITES = rounds(30, 200);

  test(`appends every entry once without gaps during ${WRITES} writes, 20 reads and 5 workers`, async () => {
    const write = () =>
      untilAdmitted(() =>
        api
          .withKey(DEMO.apiKeys.IEX)
          .submitPrealert({ UserCode: 'IEX-1001', TrackingNumber: freshNumber() })
          .answer(),
      );
    const read = () => untilAdmitted(() => log().answer());
    const replies = await Promise.all([
      ...Array.from({ length: WRITES }, write),
      ...Array.from({ length: 20 }, read),
      ...Array.from({ length: 5 }, () => appendEverything()),
    ]);
    expect(replies.slice(0, WRITES).map((reply) => reply?.status)).toEqual(Array(WRITES).fill(201));
    expect(await verify()).toMatchObject({ intact: true, verified: WRITES, unsealed: 0, inserted: 0 });
    const links = await chainOf();
    expect(links.map(({ sequence }) => sequence)).toEqual(Array.from({ length: WRITES }, (_, n) => n + 1));
    expect(new Set(links.map(({ entry }) => entry)).size).toBe(WRITES);
  });

  test("a worker appends all tenants' entries in order of time, beyond one batch and for new tenants too", async () => {
    const client = await service().owner.connect();
    const { tenantId } = await createTenant(
      client,
      {
        slug: 'sealed',
        name: 'Sealed',
        hosts: ['sealed.localhost'],
        warehouse: 'Sealed',
        admin: { username: 'admin', fullName: 'Admin', password: 'a long password' },
      },
      { passwordHashCost: 4 },
    );
    client.release();
    await insertEntry(service().owner, { tenantId: DEMO.tenants.two });
    await service().owner.query(
      `insert into audit_entries (tenant_id, id, at, actor_kind, action, entity, entity_id, request_id)
       select $1, new_id(), now() - n * interval '1 second', 'system', 'x', 'x', $1, 'many' from generate_series(1, 2100) n`,
      [DEMO.tenants.demo],
    );
    await appendEverything();
    const { rows } = await service().owner.query(
      `select l.tenant_id, count(*)::int, max(sequence)::int as head,
         bool_and(at >= coalesce(before, at)) as in_order
       from (select l.tenant_id, sequence, at, lag(at) over (partition by l.tenant_id order by sequence) as before
         from audit_links l join audit_entries e on e.id = l.entry_id) l group by 1 order by 2`,
    );
    expect(
      rows
        .slice(0, 2)
        .map((row) => row.tenant_id)
        .sort(),
    ).toEqual([DEMO.tenants.two, tenantId].sort());
    expect(rows).toMatchObject([
      { count: 1, head: 1 },
      { count: 1, head: 1 },
      { tenant_id: DEMO.tenants.demo, count: 2_100, head: 2_100, in_order: true },
    ]);
  });

  test('no link can be changed or deleted, and couriers cannot read the log', async () => {
    await insertChain(2);
    for (const change of [
      'update audit_links set sequence = 9 where sequence = 2',
      'delete from audit_links',
    ])
      await expect(service().owner.query(change)).rejects.toThrow('append-only');
    const caller = {
      kind: 'user' as const,
      tenantId: DEMO.tenants.demo,
      userId: DEMO.users.iex,
      role: 'courier' as const,
      courierId: DEMO.couriers.IEX,
      tokenVersion: 1,
      expiresAt: Math.floor(Date.now() / 1000) + 3_600,
    };
    const seen = await makeContext(service().db, caller, 'a-request').read([
      sql`select from audit_links`,
      sql`select from audit_unsealed`,
      sql`select from audit_entries`,
    ]);
    expect(seen).toEqual([[], [], []]);
  });
});
