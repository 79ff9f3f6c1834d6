import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { matching } from '../../support/assertions/matching.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import * as locks from '../../../src/platform/db/locks.js';
import type { Tx } from '../../../src/platform/db/scope.js';
import { sql, type Sql } from '../../../src/platform/db/statements.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { startService, type Service } from '../../support/service/service.js';

// Two transactions that take advisory locks in different orders deadlock. So a transaction refuses a lock that is out of order (decision 0086).

const tenantId = DEMO.tenants.demo;
let service: Service;

beforeAll(async () => {
  service = await startService({ poolSize: 1 });
});

afterAll(() => service.stop());

const context = () => makeContext(service.db, { kind: 'system', tenantId }, 'a-request');
const run = (work: (tx: Tx) => Promise<unknown>) => context().write(work);
const takeAll = (...taken: Sql[]) =>
  run(async (tx) => {
    for (const lock of taken) await tx.query(lock);
  });

const keep = locks.keepUserCode(tenantId, 'A');
const keepOthers = locks.keepUserCodes(tenantId, ['A', 'B']);
const rename = locks.lockUserCode(tenantId, 'A');
const join = locks.joinCorrections(tenantId);
const stop = locks.stopCorrections(tenantId);
const parcel = locks.lockParcel(tenantId, 'P');
const parcels = locks.lockParcels(tenantId, ['P', 'Q']);
const announce = locks.lockAnnouncement(tenantId, { trackingKey: 'P', userCode: 'A' });
const announceAll = locks.lockAnnouncedParcels(tenantId, ['P', 'Q']);

test.each([
  ['a correction', [keep, join, parcels]],
  ['a batch of scans that stops corrections', [keepOthers, stop, parcels]],
  ['locks that are held', [keepOthers, parcels, keep, parcel]],
  ['shared locks that are held alone', [rename, keep]],
  ['an announcement of a held parcel', [keep, parcels, announce]],
  ['announcements', [keepOthers, announceAll, keep]],
])('admits %s', async (_name, taken) => {
  await expect(takeAll(...taken)).resolves.toBeUndefined();
});

test.each([
  ['a user code after parcels', [parcel, keep], 'locks of parcels must not take one of user codes'],
  ['another user code after parcels', [keep, parcel, keepOthers], 'must not take one of user codes'],
  ['corrections after parcels', [parcel, join], 'locks of parcels must not take one of corrections'],
  ['user codes after corrections', [join, keep], 'locks of corrections must not take one of user codes'],
  ['more parcels in a second step', [parcel, parcels], 'locks of parcels must not take one of parcels'],
  ['a user code alone that is shared', [keep, rename], 'locks of user codes must not take one of user codes'],
  ['corrections alone that are shared', [join, stop], 'must not take one of corrections'],
  ['a parcel alone that was announced', [announce, parcel], 'must not take one of parcels'],
  ['a parcel alone after announcements', [announceAll, parcel], 'must not take one of parcels'],
])('refuses %s', async (_name, taken, message) => {
  await expect(takeAll(...taken)).rejects.toThrow(message);
});

test('refuses it in each way in which a transaction sends statements', async () => {
  const message = 'must not take one of user codes';
  await expect(run((tx) => tx.query([parcel, keep]))).rejects.toThrow(message);
  const deferred = run(async (tx) => {
    tx.later(parcel);
    await tx.count(keep);
  });
  await expect(deferred).rejects.toThrow(message);
  const later = run(async (tx) => {
    await tx.query(parcel);
    tx.later(keep);
  });
  await expect(later).rejects.toThrow(message);
  await expect(context().write([parcel, keep])).rejects.toThrow(message);
});

describe("the couriers' event counters", () => {
  const counting = (courierIds: string[]) =>
    locks.countingEvents(
      sql`update event_counters set last_sequence = last_sequence where false`,
      courierIds,
    );
  const message = 'has locked event counters must not go on working';

  test('are locked after all other locks, and end the work', async () => {
    await expect(takeAll(keep, parcel, counting(['A', 'B']))).resolves.toBeUndefined();
    await expect(takeAll(counting(['A']), parcel)).rejects.toThrow(message);
    await expect(takeAll(counting(['A']), counting(['B']))).rejects.toThrow(message);
    await expect(takeAll(counting(['A']), sql`select 1`)).rejects.toThrow(message);
    const twice = run(async (tx) => {
      for (const id of ['A', 'B']) tx.last(() => [counting([id])]);
      await tx.query(parcel);
    });
    await expect(twice).rejects.toThrow('locks of event counters must not take one of event counters');
  });

  test('are named by every statement that writes them', async () => {
    for (const text of [
      sql`update event_counters set last_sequence = 1 where false`,
      sql`insert into "public"."event_counters" select where false`,
    ])
      await expect(takeAll(text)).rejects.toThrow('must name the couriers');
  });

  test('are not counted for work that is rolled back to a savepoint', async () => {
    const work = run(async (tx) => {
      tx.later(sql`savepoint s`);
      tx.last(() => [counting(['A'])]);
      await tx.query(sql`rollback to savepoint s`);
    });
    await expect(work).rejects.toThrow('must not be rolled back to a savepoint after tx.last');
  });
});

describe('a rollback to a savepoint', () => {
  const around = (within: Sql, after: Sql, before: Sql = keep) =>
    takeAll(before, sql`savepoint s`, within, sql`rollback to savepoint s`, after);

  test('releases the locks that were taken since', async () => {
    await expect(around(parcel, stop)).resolves.toBeUndefined();
    await expect(around(parcel, parcels)).resolves.toBeUndefined();
  });

  test('keeps the earlier ones', async () => {
    await expect(around(sql`select 1`, keepOthers)).rejects.toThrow('must not take one of user codes');
    await expect(around(sql`select 1`, keep, parcel)).rejects.toThrow('must not take one of user codes');
  });
});

test('each function of locks.ts returns a statement that names its locks', () => {
  const announced = { trackingKey: 'P', userCode: 'A' };
  const owner = sql`select 1 as courier_id`;
  const argumentsOf: Partial<Record<string, unknown[]>> = {
    lockAnnouncement: [announced],
    lockAnnouncedParcels: [['P', 'Q']],
    joinBatches: [owner],
    awaitBatches: [owner],
    lockTogether: [[announced, announced], true],
    lockParcels: [['P', 'Q']],
    keepUserCodes: [['A', 'B']],
  };
  // A condition for the statements that follow, which takes no lock, and a statement that names the rows that it locks.
  const { hasBoth: _, countingEvents: __, ...taking } = locks;
  const statements = Object.entries(taking).map(([name, make]) => {
    const call = make as (tenant: string, ...others: unknown[]) => Sql;
    const statement = call(tenantId, ...(argumentsOf[name] ?? ['A', 'B']));
    const shared = statement.text.split('pg_advisory_xact_lock_shared').length > 1;
    return { name, named: statement.locks?.map(({ isShared }) => isShared === shared) ?? [] };
  });
  expect(statements.length).toBeGreaterThan(14);
  expect(statements.filter(({ named }) => named.length === 0 || named.includes(false))).toEqual([]);
});

test.each([true, false])('a pre-alert that is alone takes its locks without a list, waiting %s', (waits) => {
  const { text, locks: taken } = locks.lockTogether(tenantId, [{ trackingKey: 'P', userCode: 'A' }], waits);
  const several = locks.lockTogether(
    tenantId,
    [
      { trackingKey: 'P', userCode: 'A' },
      { trackingKey: 'Q', userCode: 'A' },
    ],
    waits,
  );
  expect(text).not.toMatch(matching(/unnest/, several.text));
  expect(text).not.toMatch(matching(/materialized/, several.text));
  expect(text.includes('pg_try_advisory_xact_lock_shared')).toBe(!waits);
  expect(taken?.map(({ kind, names, isShared }) => [kind, names, isShared])).toEqual([
    ['user codes', ['A'], true],
    ['parcels', ['P'], true],
  ]);
});
