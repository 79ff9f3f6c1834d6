import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { deadlocksOf } from '../../../support/failures/deadlocks.js';
import { rounds } from '../../../support/harness/effort.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { statusesOf, withSimultaneousChanges } from './simultaneous-changes.js';

const { IEX, HRB } = DEMO.couriers;

const { api, db, service, receive, dispatch, ship, addPackages, loadManifest, expectNoGap } =
  withSimultaneousChanges();

const update = (package_id: string, fields: object) =>
  untilAdmitted(() =>
    api
      .as('admin')
      .updatePackage({ package_id, ...fields })
      .answer(),
  );

describe('deadlocks', () => {
  const countDeadlocks = () => deadlocksOf(service().owner);

  test('the counter detects a deadlock', async () => {
    const before = await countDeadlocks();
    const [a, b] = [await service().owner.connect(), await service().owner.connect()];
    for (const client of [a, b]) await client.query('begin');
    await a.query('select pg_advisory_xact_lock(1)');
    await b.query('select pg_advisory_xact_lock(2)');
    const crossed = await Promise.allSettled([
      a.query('select pg_advisory_xact_lock(2)'),
      b.query('select pg_advisory_xact_lock(1)'),
    ]);
    expect(crossed.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    for (const client of [a, b]) {
      await client.query('rollback');
      client.release();
    }
    expect(await countDeadlocks()).toBe(before + 1);
  });

  /** Starts `second` while `first` waits for the courier's delivery queue, then releases both. */
  async function contendForDeliveryQueue(
    courierId: string,
    first: () => Promise<{ status: number }>,
    second: () => Promise<{ status: number }>,
  ) {
    // Both couriers need an existing delivery job to wait for.
    const [known = ''] = await addPackages(1, courierId);
    await dispatch({ package_ids: [known] });
    const blocker = await service().owner.connect();
    try {
      await blocker.query('begin');
      const locked = await blocker.query(
        'select from graphile_worker._private_jobs where key = $1 for update',
        [`deliver:${courierId}:update_package`],
      );
      expect(locked.rowCount).toBe(1);
      const one = first();
      await untilBlocked(1);
      const two = second();
      await untilBlocked(2);
      await blocker.query('commit');
      return await Promise.all([one, two]);
    } finally {
      blocker.release();
    }
  }

  async function untilBlocked(sessions: number): Promise<void> {
    const rows = await db.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
    );
    if ((rows[0]?.n ?? 0) < sessions) return untilBlocked(sessions);
  }

  const CONTENDERS: [string, (packageId: string, manifestId: string) => Promise<{ status: number }>][] = [
    ['a manifest that ships', (_packageId, manifestId) => ship(manifestId)],
    ['an update', (packageId) => update(packageId, { weight: 7 })],
    ['a new number', (packageId) => update(packageId, { tracking_number: `EVENTS-${randomUUID()}` })],
  ];

  test.each(CONTENDERS)(
    '%s and a dispatch of a package that was never dispatched cause no deadlock in either order',
    async (_name, other) => {
      const before = await countDeadlocks();
      for (const isFirst of [true, false]) {
        const [packageId = ''] = await addPackages(1, IEX);
        const manifestId = await loadManifest([packageId]);
        const calls = [
          () => dispatch({ package_ids: [packageId] }),
          () => other(packageId, manifestId),
        ] as const;
        const replies = await contendForDeliveryQueue(IEX, calls[isFirst ? 0 : 1], calls[isFirst ? 1 : 0]);
        expect(statusesOf(replies)).toEqual([200]);
      }
      expect((await countDeadlocks()) - before).toBe(0);
    },
  );

  const DISPATCH_ROUNDS = rounds(1, 5);
  test(`40 concurrent dispatches of different packages of the same two couriers cause no deadlock, in ${DISPATCH_ROUNDS} rounds`, async () => {
    const before = await countDeadlocks();
    for (let round = 0; round < DISPATCH_ROUNDS; round += 1) {
      const ours = await addPackages(40, IEX);
      const theirs = await addPackages(40, HRB);
      const replies = await Promise.all(
        ours.map((id, index) => dispatch({ package_ids: [id, String(theirs[index])] })),
      );
      expect(replies.map(({ data }) => data.total_queued)).toEqual(Array(40).fill(2));
    }
    expect((await countDeadlocks()) - before).toBe(0);
  }, 60_000);

  const MIXED_ROUNDS = rounds(3, 20);
  test(`concurrent ships, intakes, updates and dispatches cause no deadlock and no gap, in ${MIXED_ROUNDS} rounds`, async () => {
    const before = await countDeadlocks();
    for (let round = 0; round < MIXED_ROUNDS; round += 1) {
      const ours = await addPackages(6, IEX);
      const theirs = await addPackages(6, HRB);
      const all = [...ours, ...theirs];
      // Each manifest has packages of both couriers, which are also dispatched and updated.
      const manifests = [
        await loadManifest([...ours.slice(0, 3), ...theirs.slice(0, 3)]),
        await loadManifest([...theirs.slice(3), ...ours.slice(3)]),
      ];
      const calls = [
        ...manifests.map((id) => () => ship(id)),
        ...[IEX, HRB, IEX, HRB, IEX, HRB].map((id) => () => receive(id)),
        ...all.map((id, index) => () => update(id, { weight: 2 + index })),
        ...[all, [...all].reverse(), theirs, ours].map((ids) => () => dispatch({ package_ids: ids })),
        ...[IEX, HRB].map((id) => () => dispatch({ courierID: id })),
      ];
      // Every round starts with a different call.
      const start = (round * 7) % calls.length;
      const replies = await Promise.all(
        [...calls.slice(start), ...calls.slice(0, start)].map((call) => call()),
      );
      expect(statusesOf(replies).filter((status) => status >= 300)).toEqual([]);
      expect(await db.eventsOf(all, 'package.status_changed')).toHaveLength(12);
    }
    await expectNoGap();
    expect((await countDeadlocks()) - before).toBe(0);
  }, 120_000);
});
