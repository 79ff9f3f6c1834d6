import { describe, expect, test } from '@jest/globals';
import { verifyChain } from '../../../src/modules/audit-log/verify-chain.js';
import { openSecrets, type Secrets } from '../../../src/platform/access/secrets.js';
import { developmentConfig } from '../../support/staging/development.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertEntry } from '../../support/builders/audit.js';
import type { Body } from '../../support/service/contract.js';
import { withAuditChains } from './audit-chains.js';

const { service, withoutTriggers, log, verify, appendEverything, insertChain } = withAuditChains();

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
