import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { deleteExpired } from '../../../../src/jobs/retention.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';

const { api, db, service } = withService();
const staff = api.as('warehouse');

let serial = 0;
const newStation = () => `station ${(serial += 1)}`;

/** Claims labels, as a bridge does every few seconds. */
const poll = async (station: string) => (await staff.claimLabelJobs({ station, max_jobs: 50 }).ok()).data;

async function requestLabel(station: string): Promise<void> {
  const received = await staff.receivePackage({ tracking_number: newNumber(), weight: 1 }).created();
  const package_ids = [received.data.package_id];
  await staff.createLabelJobs({ print_id: randomUUID(), station, package_ids }).ok();
}

describe('the bridge of a station', () => {
  const hasBridge = async (station?: string): Promise<boolean | null> => {
    const { meta } = await staff.listLabelJobs({ station }).ok();
    return meta.has_bridge;
  };
  const seenAt = async (station: string): Promise<Date | undefined> => {
    const [bridge] = await db.query<{ seen_at: Date }>(
      'select seen_at from label_bridges where station = $1',
      [station],
    );
    return bridge?.seen_at;
  };
  const age = (station: string, interval: string) =>
    db.query(`update label_bridges set seen_at = now() - interval '${interval}' where station = $1`, [
      station,
    ]);

  test('is known by its polls, without a job, and only at its own station', async () => {
    const [station, other] = [newStation(), newStation()];
    expect(await hasBridge(station)).toBe(false);
    await poll(station);
    expect([await hasBridge(station), await hasBridge(other), await hasBridge()]).toEqual([
      true,
      false,
      null,
    ]);
    await age(station, '119 seconds');
    expect(await hasBridge(station)).toBe(true);
    await age(station, '121 seconds');
    expect(await hasBridge(station)).toBe(false);
    await poll(station);
    expect(await hasBridge(station)).toBe(true);
  });

  test('is noted once in 30 seconds, whatever the number of polls', async () => {
    const station = newStation();
    await Promise.all(Array.from({ length: 20 }, () => poll(station)));
    const first = await seenAt(station);
    for (let n = 0; n < 5; n += 1) await poll(station);
    expect(await seenAt(station)).toEqual(first);
    await age(station, '31 seconds');
    const aged = await seenAt(station);
    await poll(station);
    expect((await seenAt(station))?.getTime()).toBeGreaterThan(aged?.getTime() ?? Infinity);
  });

  test('stays known while it sends a label for a long time', async () => {
    const station = newStation();
    await requestLabel(station);
    const { claim_id, jobs } = await poll(station);
    await age(station, '5 minutes');
    await staff.reportLabelJob({ claim_id, job_id: jobs[0]?.job_id, status: 'sending' }).ok();
    expect(await hasBridge(station)).toBe(true);
  });

  test('is forgotten after a day', async () => {
    const [station, recent] = [newStation(), newStation()];
    await poll(station);
    await poll(recent);
    await age(station, '25 hours');
    await age(recent, '23 hours');
    await deleteExpired({ db: service().db, stopping: new AbortController().signal });
    expect([await seenAt(station), typeof (await seenAt(recent))]).toEqual([undefined, 'object']);
  });
});

test('two tenants with a station of the same name do not see each other’s jobs', async () => {
  const station = newStation();
  await requestLabel(station);
  const reply = await api.as('two/admin').claimLabelJobs({ station, max_jobs: 1 }).ok();
  expect(reply.data.jobs).toEqual([]);
  const own = await staff.listLabelJobs({ station }).ok();
  expect(own.data.map(({ status }) => status)).toEqual(['waiting']);
});
