import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { deleteExpired } from '../../../src/jobs/retention.js';
import { newNumber } from '../../support/builders/parcels.js';
import { type Reply, type Service } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const { api, service } = withService();

type Body = Record<string, unknown>;
type Job = { job_id: string; package_id: string; status: string; reason: string | null; zpl: string };

const call = (id: Parameters<Service['call']>[0], body: Body, as = 'warehouse') =>
  service().call(id, { as, body });
const create = (body: Body) => call('createLabelJobs', { print_id: randomUUID(), ...body });
const claim = async (station: string, limit = 50): Promise<{ claimId: string; jobs: Job[] }> => {
  const { body } = await call('claimLabelJobs', { station, max_jobs: limit });
  return { claimId: body['data'].claim_id, jobs: body['data'].jobs };
};
const report = (claimId: string, jobId: string | undefined, status: string, reason?: string) =>
  call('reportLabelJob', { claim_id: claimId, job_id: jobId, status, ...(reason ? { reason } : {}) });
const jobsOf = ({ body }: Reply): Job[] => body['data'].jobs;
const listed = async (station: string) => (await api.as('warehouse').listLabelJobs({ station }).ok()).data;
const shiftTime = (column: string, jobId: string | undefined, interval: string) =>
  service().owner.query(`update label_jobs set ${column} = now() - interval '${interval}' where id = $1`, [
    jobId,
  ]);
const statusOf = async (station: string) => (await listed(station)).map(({ status }) => status);

let serial = 0;
const newStation = () => `station ${(serial += 1)}`;

async function newPackages(count: number): Promise<{ ids: string[]; houses: string[] }> {
  const replies: Reply[] = [];
  for (let n = 0; n < count; n += 1)
    replies.push(await call('receivePackage', { tracking_number: newNumber(), weight: 1 }));
  const column = (name: string) => replies.map(({ body }) => String(body['data'][name]));
  return { ids: column('package_id'), houses: column('house_number') };
}

/** Adds labels that wait. */
const fillStation = (station: string, packageId: string | undefined, count: number) =>
  service().owner.query(
    `insert into label_jobs (tenant_id, id, print_id, station, package_id, copies, requested_by)
     select $1, new_id(), new_id(), $2, $3, 1, new_id() from generate_series(1, $4::int)`,
    [DEMO.tenants.demo, station, packageId, count],
  );

describe('requesting labels', () => {
  test('creates one job per package, which bridges get in the order of the request, with the ZPL of the label', async () => {
    const station = newStation();
    const { ids, houses } = await newPackages(3);
    const reversed = [...ids].reverse();
    const created = await create({ station, package_ids: [...reversed, ids[2]], copies: 2 });
    expect(created).toMatchObject({ status: 200, body: { data: { created: 3 } } });
    expect(jobsOf(created).map((job) => job.package_id)).toEqual(reversed);
    const { jobs } = await claim(station);
    expect(jobs.map(({ job_id }) => job_id)).toEqual(jobsOf(created).map(({ job_id }) => job_id));
    const label = await api
      .as('warehouse')
      .getPackageLabel({ package_id: ids[2] ?? '', format: 'zpl' })
      .answer();
    expect(jobs[0]?.zpl).toBe(label.bytes.toString().replace('^XZ', '^PQ2\n^XZ'));
    expect(jobs.map(({ zpl }, index) => zpl.includes(houses[2 - index] ?? '-'))).toEqual([true, true, true]);
  });

  test('a repeated request creates nothing and returns the same jobs, also if 20 arrive at once', async () => {
    const station = newStation();
    const { ids } = await newPackages(2);
    const body = { print_id: randomUUID(), station, package_ids: ids };
    const replies = await Promise.all(Array.from({ length: 20 }, () => create(body)));
    const counts = replies.map((reply) => reply.body['data'].created as number);
    expect(counts.sort()).toEqual([...Array<number>(19).fill(0), 2]);
    expect(new Set(replies.map((reply) => JSON.stringify(jobsOf(reply)))).size).toBe(1);
    expect(await listed(station)).toHaveLength(2);
  });

  test('the same print_id for another station, other packages or copies is rejected with 409', async () => {
    const { ids } = await newPackages(2);
    const body = { print_id: randomUUID(), station: newStation(), package_ids: [ids[0]] };
    await create(body);
    for (const other of [
      { station: newStation() },
      { package_ids: ids },
      { package_ids: [ids[1]] },
      { copies: 3 },
    ])
      expect(await create({ ...body, ...other })).toMatchObject({
        status: 409,
        body: { code: 'print_id_reused' },
      });
  });

  test('an unknown package is rejected with 404, and no label is requested', async () => {
    const station = newStation();
    const { ids } = await newPackages(1);
    expect(await create({ station, package_ids: [ids[0], randomUUID()] })).toMatchObject({
      status: 404,
      body: { code: 'package_not_found', errors: [{ field: 'package_ids[1]' }] },
    });
    expect(await listed(station)).toEqual([]);
  });

  test('a station has at most 1,000 waiting labels, also if requests arrive at once', async () => {
    const station = newStation();
    const { ids } = await newPackages(1);
    await fillStation(station, ids[0], 998);
    const replies = await Promise.all(Array.from({ length: 5 }, () => create({ station, package_ids: ids })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409, 409]);
    expect(replies.find(({ status }) => status === 409)?.body['code']).toBe('label_queue_full');
  });
});

describe('claims', () => {
  test('20 bridges that ask at once get each job once', async () => {
    const station = newStation();
    const { ids } = await newPackages(10);
    await create({ station, package_ids: ids });
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim(station, 1)));
    const got = claims.flatMap(({ jobs }) => jobs.map(({ job_id }) => job_id));
    expect(got).toHaveLength(10);
    expect(new Set(got).size).toBe(10);
  });

  test('a job whose lease ends is claimable again, and the earlier claim may not send it any more', async () => {
    const station = newStation();
    await create({ station, package_ids: (await newPackages(1)).ids });
    const first = await claim(station);
    const jobId = first.jobs[0]?.job_id;
    expect((await claim(station)).jobs).toEqual([]);
    expect(await statusOf(station)).toEqual(['claimed']);
    await shiftTime('lease_until', jobId, '1 second');
    expect(await statusOf(station)).toEqual(['waiting']);
    const second = await claim(station);
    expect(second.jobs.map(({ job_id }) => job_id)).toEqual([jobId]);
    expect(await report(first.claimId, jobId, 'sending')).toMatchObject({
      status: 409,
      body: { code: 'label_job_not_claimed' },
    });
    expect((await report(second.claimId, jobId, 'sending')).status).toBe(200);
  });

  test('a job that was reported as sending is never claimable again; without reports it becomes unconfirmed', async () => {
    const station = newStation();
    await create({ station, package_ids: (await newPackages(1)).ids });
    const { claimId, jobs } = await claim(station);
    const jobId = jobs[0]?.job_id;
    await report(claimId, jobId, 'sending');
    await shiftTime('lease_until', jobId, '1 hour');
    expect((await claim(station)).jobs).toEqual([]);
    expect(await statusOf(station)).toEqual(['unconfirmed']);
    // The bridge was cut off and reports later.
    expect((await report(claimId, jobId, 'printed')).status).toBe(200);
    expect(await statusOf(station)).toEqual(['printed']);
  });

  test('a job that waited for 12 hours is expired: no bridge gets it, and none may send it', async () => {
    const station = newStation();
    const { ids } = await newPackages(2);
    const [kept, claimed] = jobsOf(await create({ station, package_ids: ids }));
    const { claimId } = await claim(station);
    for (const job of [kept, claimed]) await shiftTime('lease_until', job?.job_id, '1 hour');
    for (const job of [kept, claimed]) await shiftTime('expires_at', job?.job_id, '1 second');
    expect(await statusOf(station)).toEqual(['expired', 'expired']);
    expect((await claim(station)).jobs).toEqual([]);
    expect((await report(claimId, kept?.job_id, 'sending')).status).toBe(409);
  });
});

describe('reports', () => {
  const REPORTS = ['sending', 'printed', 'failed', 'unconfirmed'] as const;
  // The table in the contract: which reports are accepted after which.
  test.each([
    [[], ['sending', 'failed']],
    [['sending'], ['sending', 'printed', 'failed', 'unconfirmed']],
    [
      ['sending', 'unconfirmed'],
      ['printed', 'unconfirmed'],
    ],
    [['sending', 'printed'], ['printed']],
    [['sending', 'failed'], ['failed']],
  ])('after %j only %j are accepted', async (before, accepted) => {
    const { ids } = await newPackages(1);
    for (const status of REPORTS) {
      const station = newStation();
      await create({ station, package_ids: ids });
      const { claimId, jobs } = await claim(station);
      const jobId = jobs[0]?.job_id;
      for (const earlier of before) await report(claimId, jobId, earlier, 'Reason.');
      const reply = await report(claimId, jobId, status, 'Reason.');
      expect([status, reply.status]).toEqual([status, accepted.includes(status) ? 200 : 409]);
    }
  });

  test('the outcome is in the audit log of the package, and a repeated report adds nothing', async () => {
    const station = newStation();
    const { ids } = await newPackages(1);
    await create({ station, package_ids: ids });
    const { claimId, jobs } = await claim(station);
    const jobId = jobs[0]?.job_id;
    await report(claimId, jobId, 'sending');
    for (let n = 0; n < 2; n += 1) await report(claimId, jobId, 'failed', 'No space is left.');
    const { rows } = await service().owner.query<{ action: string; remarks: string | null }>(
      `select action, remarks from audit_entries where entity_id = $1 and action like '%.label_%' order by id`,
      [ids[0]],
    );
    expect(rows).toEqual([
      { action: 'package.label_requested', remarks: null },
      { action: 'package.label_failed', remarks: 'No space is left.' },
    ]);
    expect((await listed(station))[0]).toMatchObject({ status: 'failed', reason: 'No space is left.' });
  });

  test('a failure needs a reason, and an unknown job is rejected with 404', async () => {
    expect(await report(randomUUID(), randomUUID(), 'failed')).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'reason', code: 'required' }] },
    });
    expect(await report(randomUUID(), randomUUID(), 'sending')).toMatchObject({
      status: 404,
      body: { code: 'label_job_not_found' },
    });
  });
});

describe('printing again', () => {
  const reprint = (jobId: string | undefined, printId: string = randomUUID()) =>
    call('reprintLabelJob', { job_id: jobId, print_id: printId });

  test('a job that has not ended is rejected with 409', async () => {
    const station = newStation();
    await create({ station, package_ids: (await newPackages(1)).ids });
    const jobId = (await listed(station))[0]?.job_id;
    const refused = { status: 409, body: { code: 'label_job_open' } };
    expect(await reprint(jobId)).toMatchObject(refused);
    const { claimId } = await claim(station);
    expect(await reprint(jobId)).toMatchObject(refused);
    await report(claimId, jobId, 'sending');
    expect(await reprint(jobId)).toMatchObject(refused);
  });

  test('is rejected with 409 for a print_id of another request, and while too many labels wait', async () => {
    const station = newStation();
    const { ids } = await newPackages(1);
    const printId = randomUUID();
    await create({ print_id: printId, station, package_ids: ids });
    const { claimId, jobs } = await claim(station);
    const jobId = jobs[0]?.job_id;
    for (const status of ['sending', 'printed'] as const) await report(claimId, jobId, status);
    expect(await reprint(jobId, printId)).toMatchObject({ status: 409, body: { code: 'print_id_reused' } });
    await fillStation(station, ids[0], 1_000);
    expect(await reprint(jobId)).toMatchObject({ status: 409, body: { code: 'label_queue_full' } });
  });

  test('creates one new job per print_id, and the bridge may no longer begin to send the first', async () => {
    const station = newStation();
    await create({ station, package_ids: (await newPackages(1)).ids });
    const { claimId, jobs } = await claim(station);
    const jobId = jobs[0]?.job_id;
    await report(claimId, jobId, 'sending');
    await shiftTime('lease_until', jobId, '1 hour');
    const printId = randomUUID();
    const replies = await Promise.all(Array.from({ length: 10 }, () => reprint(jobId, printId)));
    expect(replies.map(({ body }) => body['data'].created as number).sort()).toEqual([
      ...Array<number>(9).fill(0),
      1,
    ]);
    expect(jobsOf(replies[0] as Reply)).toMatchObject([{ reprint_of: jobId, station, status: 'waiting' }]);
    expect((await report(claimId, jobId, 'sending')).status).toBe(409);
    expect(await statusOf(station)).toEqual(['waiting', 'unconfirmed']);
    const { ids } = await newPackages(1);
    expect(await create({ print_id: printId, station, package_ids: ids })).toMatchObject({ status: 409 });
    expect(await reprint(randomUUID())).toMatchObject({ status: 404 });
  });
});

test('pages of jobs continue with next_before, newest first', async () => {
  const station = newStation();
  const jobs = jobsOf(await create({ station, package_ids: (await newPackages(5)).ids }));
  const newest = jobs.map(({ job_id }) => job_id).reverse();
  const page = async (before: string | null = null) => {
    const query = { station, limit: 2, ...(before ? { before } : {}) };
    const { data, meta } = await api.as('warehouse').listLabelJobs(query).answer();
    return { ids: data.map(({ job_id }) => job_id), next: meta.next_before };
  };
  const first = await page();
  const second = await page(first.next);
  const third = await page(second.next);
  expect([...first.ids, ...second.ids, ...third.ids]).toEqual(newest);
  expect(third.next).toBeNull();
});

test('jobs are deleted after 7 days', async () => {
  const station = newStation();
  const [old, young] = jobsOf(await create({ station, package_ids: (await newPackages(2)).ids }));
  await shiftTime('created_at', old?.job_id, '7 days 1 minute');
  await shiftTime('created_at', young?.job_id, '6 days 23 hours');
  await deleteExpired({ db: service().db, stopping: new AbortController().signal });
  expect((await listed(station)).map(({ job_id }) => job_id)).toEqual([young?.job_id]);
});

test('two tenants with a station of the same name do not see each other’s jobs', async () => {
  const station = newStation();
  await create({ station, package_ids: (await newPackages(1)).ids });
  const reply = await api.as('two/admin').claimLabelJobs({ station, max_jobs: 1 }).ok();
  expect(reply.data.jobs).toEqual([]);
  expect(await statusOf(station)).toEqual(['waiting']);
});

test.each([
  'listLabelJobs',
  'createLabelJobs',
  'claimLabelJobs',
  'reportLabelJob',
  'reprintLabelJob',
] as const)('%s requires a token of staff', async (id) => {
  const body = id === 'listLabelJobs' ? {} : { body: {} };
  expect((await service().call(id, body)).status).toBe(401);
  expect((await service().call(id, { as: 'iex', ...body })).status).toBe(403);
});

describe('the bridge of a station', () => {
  const hasBridge = async (station?: string): Promise<boolean | null> => {
    const { meta } = await api.as('warehouse').listLabelJobs({ station }).ok();
    return meta.has_bridge;
  };
  const seenAt = async (station: string): Promise<Date | undefined> => {
    const { rows } = await service().owner.query<{ seen_at: Date }>(
      'select seen_at from label_bridges where station = $1',
      [station],
    );
    return rows[0]?.seen_at;
  };
  const age = (station: string, interval: string) =>
    service().owner.query(
      `update label_bridges set seen_at = now() - interval '${interval}' where station = $1`,
      [station],
    );

  test('is known by its polls, without a job, and only at its own station', async () => {
    const [station, other] = [newStation(), newStation()];
    expect(await hasBridge(station)).toBe(false);
    await claim(station);
    expect([await hasBridge(station), await hasBridge(other), await hasBridge()]).toEqual([
      true,
      false,
      null,
    ]);
    await age(station, '119 seconds');
    expect(await hasBridge(station)).toBe(true);
    await age(station, '121 seconds');
    expect(await hasBridge(station)).toBe(false);
    await claim(station);
    expect(await hasBridge(station)).toBe(true);
  });

  test('is noted once in 30 seconds, whatever the number of polls', async () => {
    const station = newStation();
    await Promise.all(Array.from({ length: 20 }, () => claim(station)));
    const first = await seenAt(station);
    for (let poll = 0; poll < 5; poll += 1) await claim(station);
    expect(await seenAt(station)).toEqual(first);
    await age(station, '31 seconds');
    const aged = await seenAt(station);
    await claim(station);
    expect((await seenAt(station))?.getTime()).toBeGreaterThan(aged?.getTime() ?? Infinity);
  });

  test('stays known while it sends a label for a long time', async () => {
    const station = newStation();
    const { ids } = await newPackages(1);
    await create({ station, package_ids: ids });
    const { claimId, jobs } = await claim(station);
    await age(station, '5 minutes');
    expect((await report(claimId, jobs[0]?.job_id, 'sending')).status).toBe(200);
    expect(await hasBridge(station)).toBe(true);
  });

  test('is forgotten after a day', async () => {
    const [station, recent] = [newStation(), newStation()];
    await claim(station);
    await claim(recent);
    await age(station, '25 hours');
    await age(recent, '23 hours');
    await deleteExpired({ db: service().db, stopping: new AbortController().signal });
    expect([await seenAt(station), typeof (await seenAt(recent))]).toEqual([undefined, 'object']);
  });
});
