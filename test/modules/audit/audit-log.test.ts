import { describe, expect, test } from '@jest/globals';
import { pageOfEntries } from '../../../src/modules/audit-log/queries.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { sql } from '../../../src/platform/db/statements.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertEntry } from '../../support/builders/audit.js';
import type { Body } from '../../support/service/contract.js';
import { freshNumber } from '../../support/builders/couriers.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withAuditChains } from './audit-chains.js';

const { api, service, log, verify, appendEverything, insertChain } = withAuditChains();

describe('audit log', () => {
  test("contains a user's change with the actor, the action and the values before and after", async () => {
    const body = { notes: 'first', remarks: 'because' };
    const created = await api.as('warehouse').createManifest(body).ok();
    const manifestId = created.data.manifest_id;
    const change = { action: 'update_meta', manifest_id: manifestId, notes: 'second', remarks: 'All aboard' };
    const changed = await api.as('manager').manageManifest(unchecked(change)).ok();
    const { data, meta } = await log({ entity_id: manifestId }).ok();
    expect(meta).toEqual({ limit: 50, next_before: null });
    expect(data).toEqual([
      expect.objectContaining({
        actor_kind: 'user',
        actor_id: DEMO.users.manager,
        actor_name: 'manager',
        action: 'manifest.updated',
        entity: 'manifest',
        before: expect.objectContaining({ notes: null }),
        after: expect.objectContaining({ notes: 'second' }),
        remarks: 'All aboard',
        request_id: changed.headers.get('x-request-id'),
        sequence: 2,
      }),
      expect.objectContaining({
        actor_name: 'warehouse',
        action: 'manifest.created',
        before: null,
        sequence: 1,
      }),
    ]);
    expect(data[0]?.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  test("shows API keys by their courier's code, users by their name, and no name for the service", async () => {
    const body = { UserCode: 'IEX-1001', TrackingNumber: freshNumber() };
    await api.withKey(DEMO.apiKeys.IEX).submitPrealert(body).succeeded();
    const own = { tracking_number: freshNumber(), user_code: 'IEX-1001', vendor: 'V' };
    await api.as('iex').createPrealert(own).created();
    await insertEntry(service().owner, { actorKind: 'system', actorId: null });
    const { data } = await log().ok();
    expect((data as Body[]).map(({ actor_kind, actor_name }) => [actor_kind, actor_name])).toEqual([
      ['system', null],
      ['user', 'iex'],
      ['api_key', 'IEX'],
    ]);
    expect(await verify()).toMatchObject({ intact: true, verified: 3, head: { sequence: 3 } });
  });

  test('is readable for administrators only, and only for their own tenant', async () => {
    await insertChain(1);
    for (const as of ['manager', 'warehouse', 'iex', 'disabled']) {
      expect(await log({}, as).answer()).toMatchObject({ status: 403 });
      const body = { action: 'verify' };
      expect(await api.as(as).verifyAuditLog(unchecked(body)).answer()).toMatchObject({ status: 403 });
    }
    expect(await api.anonymous.listAuditEntries().answer()).toMatchObject({ status: 401 });
    expect((await log({}, 'two/admin').ok()).data).toEqual([]);
    const two = { as: 'two/admin', body: { action: 'verify' } };
    const verified = (await api.with(two).verifyAuditLog().ok()).data;
    expect(verified).toMatchObject({ intact: true, verified: 0, head: { sequence: 0, hash: null } });
  });

  test('pages newest first, 50 per page, and returns each entry once even if timestamps are equal', async () => {
    for (let n = 0; n < 120; n += 1)
      await insertEntry(service().owner, { at: `2026-11-0${1 + Math.floor(n / 50)} 10:00Z` });
    const seen: string[] = [];
    const pages: number[] = [];
    for (let before: string | null | undefined; before !== null;) {
      const { data, meta } = await log(before ? { before } : {}).ok();
      seen.push(...(data as Body[]).map((entry) => `${String(entry['at'])} ${String(entry['audit_id'])}`));
      pages.push(data.length);
      before = meta.next_before;
    }
    expect(pages).toEqual([50, 50, 20]);
    expect(new Set(seen).size).toBe(120);
    expect(seen).toEqual([...seen].sort().reverse());
  });

  test('rejects a reversed date range, and reading and verifying write no entries', async () => {
    await insertChain(2);
    const wrong = await log({ from: '2026-11-02', to: '2026-11-01' }).answer();
    expect(wrong.errors).toEqual([expect.objectContaining({ field: 'to', code: 'minimum' })]);
    await log().ok();
    await verify();
    const { rows } = await service().owner.query('select count(*)::int from audit_entries');
    expect(rows).toEqual([{ count: 2 }]);
  });
});

type Explained = { 'QUERY PLAN': [{ Plan: Record<string, number> }] };

test('a page with any filter reads at most four blocks per entry, behind 20,000 entries that do not match', async () => {
  const caller = {
    kind: 'user' as const,
    tenantId: DEMO.tenants.demo,
    userId: DEMO.users.admin,
    role: 'admin' as const,
    courierId: null,
    tokenVersion: 1,
    expiresAt: Math.floor(Date.now() / 1000) + 3_600,
  };
  const FILTERS = [
    {},
    { actor_id: DEMO.users.admin },
    { actor_kind: 'system' as const },
    { entity: 'rare' },
    { entity_id: DEMO.tenants.two },
    { action: 'rare' },
    { request_id: 'rare' },
    { from: '2026-01-01', to: '2026-01-01' },
  ];
  await service().owner.query(
    `insert into audit_entries (tenant_id, id, at, actor_kind, actor_id, action, entity, entity_id, request_id)
     select $1, new_id(), '2026-01-01Z'::timestamptz + n * interval '1 s', case n % 2 when 0 then 'user' else 'system' end,
       $2, 'rare', 'rare', $3, 'rare' from generate_series(1, 120) n`,
    [DEMO.tenants.demo, DEMO.users.admin, DEMO.tenants.two],
  );
  await appendEverything();
  await service().owner.query(
    `insert into audit_entries (tenant_id, id, at, actor_kind, actor_id, action, entity, entity_id, request_id)
     select $1, new_id(), now(), 'api_key', $2, 'package.updated', 'package', gen_random_uuid(), new_id()
     from generate_series(1, 20000) n`,
    [DEMO.tenants.demo, DEMO.couriers.IEX],
  );
  await service().owner.query('vacuum analyze audit_entries, audit_links');
  const costly: string[] = [];
  for (const filter of FILTERS) {
    const ctx = makeContext(service().db, caller, 'a-request');
    const page = pageOfEntries(ctx, { limit: 50, ...filter });
    const [[row]] = await ctx.read([sql<Explained>`explain (analyze, buffers, format json) ${page}`]);
    if (!row) throw new Error('EXPLAIN returned no row.');
    const plan = row['QUERY PLAN'][0].Plan;
    expect(plan['Actual Rows']).toBe(51);
    const blocks = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
    if (blocks > 4 * 51) costly.push(`${JSON.stringify(filter)}: ${blocks} blocks`);
  }
  // All 20,000 entries fill about 450 blocks.
  expect(costly).toEqual([]);
}, 60_000);
