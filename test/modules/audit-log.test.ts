import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { pageOfEntries } from '../../src/modules/audit-log/queries.js';
import { appendAllToChains } from '../../src/modules/audit-log/append-to-chain.js';
import { verifyChain } from '../../src/modules/audit-log/verify-chain.js';
import { openSecrets, type Secrets } from '../../src/platform/access/secrets.js';
import { developmentConfig } from '../support/staging/development.js';
import { makeContext } from '../../src/platform/context/request-context.js';
import { sql } from '../../src/platform/db/statements.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { createTenant } from '../../src/modules/tenants/tenant.js';
import { rounds } from '../support/harness/effort.js';
import { insertEntry } from '../support/builders/audit.js';
import type { Body } from '../support/service/contract.js';
import { freshNumber } from '../support/builders/couriers.js';
import { untilAdmitted } from '../support/service/service.js';
import { withService } from '../support/fixture/with-service.js';
import { unchecked } from '../support/fixture/sent.js';

const { api, service } = withService();

/** Runs statements with triggers and foreign keys disabled, as anyone with access to the database could. */
async function withoutTriggers(...statements: string[]): Promise<void> {
  const text = ['begin', 'set local session_replication_role = replica', ...statements, 'commit'].join(';\n');
  await service().owner.query(text);
}

beforeEach(() =>
  withoutTriggers('delete from audit_links', 'delete from audit_unsealed', 'delete from audit_entries'),
);

const log = (query: Record<string, string | number> = {}, as = 'admin') => api.as(as).listAuditEntries(query);
const verify = async (body: Body = {}): Promise<Body> => {
  const reply = await api
    .as('admin')
    .verifyAuditLog({ action: 'verify', ...body })
    .ok();
  return reply.data;
};
const appendEverything = (secrets: Secrets = service().app.secrets) =>
  appendAllToChains({ db: service().db, secrets, stopping: new AbortController().signal });

/** Plants entries one second apart, oldest first, and appends them to the chain. Returns their ids. */
async function insertChain(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1)
    ids.push(
      await insertEntry(service().owner, { at: new Date(Date.UTC(2026, 10, 1, 0, 0, n)).toISOString() }),
    );
  await appendEverything();
  return ids;
}

async function chainOf(tenantId: string = DEMO.tenants.demo): Promise<{ sequence: number; entry: string }[]> {
  const { rows } = await service().owner.query<{ sequence: number; entry: string }>(
    'select sequence::int, entry_id as entry from audit_links where tenant_id = $1 order by sequence',
    [tenantId],
  );
  return rows;
}

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

describe('verification', () => {
  const COLUMNS: [column: string, value: string][] = [
    ['at', "at + interval '1 millisecond'"],
    ['actor_kind', "'user'"],
    ['actor_id', 'null'],
    ['action', "'package.deleted'"],
    ['entity', "'manifest'"],
    ['entity_id', 'new_id()'],
    ['before', 'null'],
    // Equal as a number, but written differently.
    ['before', `'{"weight": 1.5}'`],
    ['after', `'{"weight": 2.5, "more": null}'`],
    ['remarks', "''"],
    ['request_id', "request_id || ' '"],
  ];

  test.each(COLUMNS)(
    'reports an entry whose %s was set to %s and continues after it',
    async (column, value) => {
      const ids = await insertChain(5);
      await withoutTriggers(`update audit_entries set ${column} = ${value} where id = '${ids[2]}'`);
      const flaw = { sequence: 3, audit_id: ids[2], problem: 'altered' };
      expect(await verify()).toMatchObject({
        intact: false,
        verified: 2,
        to: 2,
        first_altered: flaw,
        next_after: 3,
      });
      expect(await verify({ after: 3 })).toMatchObject({
        intact: true,
        verified: 2,
        from: 4,
        to: 5,
        next_after: null,
      });
    },
  );

  test('the hash covers every column of an entry', async () => {
    const { rows } = await service().owner.query<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = 'audit_entries'::regclass and attnum > 0
       and not attisdropped`,
    );
    const tried = [...COLUMNS.map(([column]) => column), 'tenant_id', 'id'];
    expect(rows.map(({ name }) => name).sort()).toEqual([...new Set(tried)].sort());
  });

  type Tampering = { how: string; statements: (ids: string[]) => string[]; flaw: (ids: string[]) => Body };
  const swapped = (column: string) => [
    `update audit_links l set ${column} = o.${column} from (select * from audit_links) o
     where l.sequence in (2, 4) and o.sequence = 6 - l.sequence`,
  ];
  const FORGED = "decode(repeat('ab', 32), 'hex')";
  const TAMPERINGS: Tampering[] = [
    {
      how: 'an entry was deleted',
      statements: (ids) => [`delete from audit_entries where id = '${ids[2]}'`],
      flaw: (ids) => ({ sequence: 3, audit_id: ids[2], problem: 'missing' }),
    },
    {
      how: 'an entry and its link were deleted',
      statements: (ids) => [
        `delete from audit_entries where id = '${ids[2]}'`,
        'delete from audit_links where sequence = 3',
      ],
      flaw: () => ({ sequence: 3, audit_id: null, problem: 'missing' }),
    },
    {
      how: 'the first link was deleted',
      statements: () => ['delete from audit_links where sequence = 1'],
      flaw: () => ({ sequence: 1, audit_id: null, problem: 'missing' }),
    },
    {
      how: 'a link was deleted and the later ones renumbered',
      statements: () => [
        'delete from audit_links where sequence = 3',
        'update audit_links set sequence = sequence + 100 where sequence > 3',
        'update audit_links set sequence = sequence - 101 where sequence > 100',
      ],
      flaw: (ids) => ({ sequence: 3, audit_id: ids[3], problem: 'altered' }),
    },
    {
      how: 'a hash was changed',
      statements: () => [`update audit_links set hash = ${FORGED} where sequence = 3`],
      flaw: (ids) => ({ sequence: 3, audit_id: ids[2], problem: 'altered' }),
    },
    {
      how: 'two links were swapped',
      statements: () => [
        'update audit_links set sequence = 100 where sequence = 2',
        'update audit_links set sequence = 2 where sequence = 4',
        'update audit_links set sequence = 4 where sequence = 100',
      ],
      flaw: (ids) => ({ sequence: 2, audit_id: ids[3], problem: 'reordered' }),
    },
    {
      how: 'two entries were swapped',
      statements: () => [
        'drop index audit_links_tenant_id_entry_id_key',
        ...swapped('entry_id'),
        'create unique index audit_links_tenant_id_entry_id_key on audit_links (tenant_id, entry_id)',
      ],
      flaw: (ids) => ({ sequence: 2, audit_id: ids[3], problem: 'reordered' }),
    },
    {
      how: 'a link to a forged entry was inserted',
      statements: () => [
        'update audit_links set sequence = sequence + 100 where sequence >= 3',
        'update audit_links set sequence = sequence - 99 where sequence > 100',
        `insert into audit_entries (tenant_id, id, at, actor_kind, action, entity, entity_id, request_id)
         select tenant_id, '${DEMO.tenants.two}', at, 'system', 'x', 'x', id, 'forged' from audit_entries limit 1`,
        `insert into audit_links (tenant_id, sequence, entry_id, hash)
         values ('${DEMO.tenants.demo}', 3, '${DEMO.tenants.two}', ${FORGED})`,
      ],
      flaw: () => ({ sequence: 3, audit_id: DEMO.tenants.two, problem: 'inserted' }),
    },
    {
      how: 'an entry was inserted without the service, with an old time',
      statements: () => [
        `insert into audit_entries (tenant_id, id, at, actor_kind, action, entity, entity_id, request_id)
         values ('${DEMO.tenants.demo}', '${DEMO.tenants.two}', '2020-01-01Z', 'system', 'x', 'x', new_id(), 'forged')`,
      ],
      flaw: () => ({ sequence: null, audit_id: DEMO.tenants.two, problem: 'inserted' }),
    },
    {
      how: 'the last links were deleted and their entries were not',
      statements: () => ['delete from audit_links where sequence > 3'],
      flaw: (ids) => ({ sequence: null, audit_id: ids[3], problem: 'inserted' }),
    },
  ];

  test.each(TAMPERINGS)('detects that $how', async ({ statements, flaw }) => {
    const ids = await insertChain(5);
    expect(await verify()).toMatchObject({ intact: true, verified: 5 });
    await withoutTriggers(...statements(ids));
    const found = await verify();
    expect(found['first_altered']).toEqual(flaw(ids));
    expect(found['intact']).toBe(false);
    // The service itself continues.
    await insertEntry(service().owner);
    expect(await log().answer()).toMatchObject({ status: 200 });
    expect((await verify())['intact']).toBe(false);
  });

  test('an entry deleted before it was appended stays in the count of unsealed entries', async () => {
    const id = await insertEntry(service().owner);
    await withoutTriggers(`delete from audit_entries where id = '${id}'`);
    expect(await verify()).toMatchObject({ verified: 0, unsealed: 1 });
  });

  test('detects a truncated chain by a known head, even after the chain has grown again', async () => {
    const ids = await insertChain(5);
    const { head: earlierHead } = await verify();
    const known = { known_head: earlierHead };
    await insertEntry(service().owner);
    expect(await verify(known)).toMatchObject({ intact: true, verified: 6 });
    await withoutTriggers(
      'delete from audit_links where sequence > 3',
      `delete from audit_entries where id <> all ('{${ids.slice(0, 3).join()}}')`,
    );
    expect(await verify()).toMatchObject({ intact: true, verified: 3 });
    const cut = { sequence: 4, audit_id: null, problem: 'missing' };
    expect(await verify(known)).toMatchObject({ intact: false, verified: 3, first_altered: cut });
    expect(await verify({ after: 5 })).toMatchObject({ intact: false, first_altered: cut, next_after: null });
    for (let n = 0; n < 3; n += 1) await insertEntry(service().owner);
    const other = { sequence: 5, audit_id: null, problem: 'altered' };
    expect(await verify(known)).toMatchObject({ intact: false, verified: 6, first_altered: other });
  });

  test('detects a chain rebuilt without the key, and does not depend on the encryption key', async () => {
    await insertChain(3);
    const { head: earlierHead } = await verify();
    const others = openSecrets(developmentConfig({ LOOKUP_KEY: 'ee'.repeat(32) }).secrets);
    const rotated = openSecrets(developmentConfig({ ENCRYPTION_KEYS: `9:${'ee'.repeat(32)}` }).secrets);
    const caller = { kind: 'system' as const, tenantId: DEMO.tenants.demo };
    const wanted = { action: 'verify' as const, after: 0, max_entries: 10 };
    const verifiedWith = (secrets: Secrets) =>
      verifyChain(makeContext(service().db, caller, 'a-request'), secrets, wanted);
    expect((await verifiedWith(rotated)).flaw).toBeUndefined();
    expect((await verifiedWith(others)).flaw).toMatchObject({ sequence: 1, problem: 'altered' });
    // The whole chain is rebuilt with another key.
    await withoutTriggers(
      'insert into audit_unsealed (tenant_id, at, entry_id) select tenant_id, at, id from audit_entries',
      'delete from audit_links',
    );
    await appendEverything(others);
    expect((await verifiedWith(others)).flaw).toBeUndefined();
    expect(await verify({ known_head: earlierHead })).toMatchObject({
      intact: false,
      first_altered: { sequence: 1, problem: 'altered' },
    });
  });

  test('verifies a long log in parts and reports every finding once', async () => {
    const ids = await insertChain(25);
    await withoutTriggers(
      `update audit_entries set remarks = 'x' where id = '${ids[4]}'`,
      `delete from audit_links where sequence = 12`,
      `insert into audit_entries (tenant_id, id, at, actor_kind, action, entity, entity_id, request_id)
       values ('${DEMO.tenants.demo}', '${DEMO.tenants.two}', '2026-11-01 00:00:18.5Z', 'system', 'x', 'x', new_id(), 'x')`,
    );
    const calls: Body[] = [];
    for (let after: number | null = 0; after !== null;) {
      const found: Body = await verify({ after, max_entries: 7 });
      calls.push(found);
      after = found['next_after'] as number | null;
    }
    const shown = calls.map(({ from, to, first_altered: flaw, inserted }) => [from, to, flaw, inserted]);
    // The entry of the deleted link counts as inserted, like the forged one.
    expect(shown).toEqual([
      [1, 4, { sequence: 5, audit_id: ids[4], problem: 'altered' }, 0],
      [6, 11, { sequence: 12, audit_id: null, problem: 'missing' }, 1],
      [14, 20, { sequence: null, audit_id: DEMO.tenants.two, problem: 'inserted' }, 1],
      [21, 25, null, 0],
    ]);
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
