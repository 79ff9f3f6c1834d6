import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { deleteExpired } from '../../../../src/jobs/retention.js';
import { newNumber } from '../../../support/builders/parcels.js';
import type { JsonBodyOf } from '../../../../src/platform/contract/types.js';
import { whileUnwritable } from '../../../support/harness/meanwhile.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

const { api, db, service } = withService();
const staff = api.as('warehouse');

type Request = Partial<JsonBodyOf<'createLabelJobs'>>;
type Report = JsonBodyOf<'reportLabelJob'>['status'];

const create = (request: Request) =>
  staff.createLabelJobs({ print_id: randomUUID(), station: undefined, package_ids: undefined, ...request });
const createdJobs = async (request: Request) => (await create(request).ok()).data.jobs;
const claim = async (station: string, limit = 50) => {
  const { data } = await staff.claimLabelJobs({ station, max_jobs: limit }).ok();
  return { claimId: data.claim_id, jobs: data.jobs };
};
const report = (claim_id: string, job_id: string | undefined, status: Report, reason?: string) =>
  staff.reportLabelJob({ claim_id, job_id, status, ...(reason ? { reason } : {}) });
const listed = async (station: string) => (await staff.listLabelJobs({ station }).ok()).data;
const shiftTime = (column: string, jobId: string | undefined, interval: string) =>
  db.query(`update label_jobs set ${column} = now() - interval '${interval}' where id = $1`, [jobId]);
const statusOf = async (station: string) => (await listed(station)).map(({ status }) => status);

let serial = 0;
const newStation = () => `station ${(serial += 1)}`;

async function newPackages(count: number): Promise<{ ids: string[]; houses: string[] }> {
  const [ids, houses]: [string[], string[]] = [[], []];
  for (let n = 0; n < count; n += 1) {
    const { data } = await staff.receivePackage({ tracking_number: newNumber(), weight: 1 }).created();
    ids.push(data.package_id);
    houses.push(data.house_number);
  }
  return { ids, houses };
}

/** Adds labels that wait. */
const fillStation = (station: string, packageId: string | undefined, count: number) =>
  db.query(
    `insert into label_jobs (tenant_id, id, print_id, station, package_id, copies, requested_by)
     select $1, new_id(), new_id(), $2, $3, 1, new_id() from generate_series(1, $4::int)`,
    [DEMO.tenants.demo, station, packageId, count],
  );

describe('requesting labels', () => {
  test('creates one job per package, which bridges get in the order of the request, with the ZPL of the label', async () => {
    const station = newStation();
    const { ids, houses } = await newPackages(3);
    const [, , last = ''] = ids;
    const reversed = [...ids].reverse();
    const { data } = await create({ station, package_ids: [...reversed, last], copies: 2 }).ok();
    expect(data.created).toBe(3);
    expect(data.jobs.map((job) => job.package_id)).toEqual(reversed);
    const { jobs } = await claim(station);
    expect(jobs.map(({ job_id }) => job_id)).toEqual(data.jobs.map(({ job_id }) => job_id));
    const label = await staff.getPackageLabel({ package_id: last, format: 'zpl' }).ok();
    expect(jobs[0]?.zpl).toBe(label.bytes.toString().replace('^XZ', '^PQ2\n^XZ'));
    expect(jobs.map(({ zpl }, index) => zpl.includes(houses[2 - index] ?? '-'))).toEqual([true, true, true]);
  });

  test('a repeated request creates nothing and returns the same jobs, also if 20 arrive at once', async () => {
    const station = newStation();
    const { ids } = await newPackages(2);
    const body = { print_id: randomUUID(), station, package_ids: ids };
    const replies = await Promise.all(Array.from({ length: 20 }, () => create(body).ok()));
    const counts = replies.map(({ data }) => data.created);
    expect(counts.sort()).toEqual([...Array<number>(19).fill(0), 2]);
    expect(new Set(replies.map(({ data }) => JSON.stringify(data.jobs))).size).toBe(1);
    expect(await listed(station)).toHaveLength(2);
  });

  test('the same print_id for another station, other packages or copies is rejected with 409', async () => {
    const { ids } = await newPackages(2);
    const body = { print_id: randomUUID(), station: newStation(), package_ids: ids.slice(0, 1) };
    await create(body).ok();
    for (const other of [
      { station: newStation() },
      { package_ids: ids },
      { package_ids: ids.slice(1) },
      { copies: 3 },
    ])
      await create({ ...body, ...other }).refused(409, 'print_id_reused');
  });

  test('an unknown package is rejected with 404, and no label is requested', async () => {
    const station = newStation();
    const { ids } = await newPackages(1);
    const package_ids = [...ids, randomUUID()];
    const { errors } = await create({ station, package_ids }).refused(404, 'package_not_found');
    expect(errors).toMatchObject([{ field: 'package_ids[1]' }]);
    expect(await listed(station)).toEqual([]);
  });

  test('a station has at most 1,000 waiting labels, also if requests arrive at once', async () => {
    const station = newStation();
    const { ids } = await newPackages(1);
    await fillStation(station, ids[0], 998);
    const replies = await whileUnwritable(service().owner, { table: 'label_jobs', waiting: 4 }, () =>
      Promise.all(Array.from({ length: 4 }, () => create({ station, package_ids: ids }).answer())),
    );
    const endings = replies.map(({ status, code }) => `${status} ${code ?? ''}`.trim()).sort();
    const refused = '409 label_queue_full';
    expect(endings).toEqual(['200', '200', refused, refused]);
  });
});

describe('claims', () => {
  test('20 bridges that ask at once get each job once', async () => {
    const station = newStation();
    const { ids } = await newPackages(10);
    await create({ station, package_ids: ids }).ok();
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim(station, 1)));
    const got = claims.flatMap(({ jobs }) => jobs.map(({ job_id }) => job_id));
    expect(got).toHaveLength(10);
    expect(new Set(got).size).toBe(10);
  });

  test('a job whose lease ends is claimable again, and the earlier claim may not send it any more', async () => {
    const station = newStation();
    await create({ station, package_ids: (await newPackages(1)).ids }).ok();
    const first = await claim(station);
    const jobId = first.jobs[0]?.job_id;
    expect((await claim(station)).jobs).toEqual([]);
    expect(await statusOf(station)).toEqual(['claimed']);
    await shiftTime('lease_until', jobId, '1 second');
    expect(await statusOf(station)).toEqual(['waiting']);
    const second = await claim(station);
    expect(second.jobs.map(({ job_id }) => job_id)).toEqual([jobId]);
    await report(first.claimId, jobId, 'sending').refused(409, 'label_job_not_claimed');
    await report(second.claimId, jobId, 'sending').ok();
  });

  test('a job that was reported as sending is never claimable again; without reports it becomes unconfirmed', async () => {
    const station = newStation();
    await create({ station, package_ids: (await newPackages(1)).ids }).ok();
    const { claimId, jobs } = await claim(station);
    const jobId = jobs[0]?.job_id;
    await report(claimId, jobId, 'sending').ok();
    await shiftTime('lease_until', jobId, '1 hour');
    expect((await claim(station)).jobs).toEqual([]);
    expect(await statusOf(station)).toEqual(['unconfirmed']);
    // The bridge was cut off and reports later.
    await report(claimId, jobId, 'printed').ok();
    expect(await statusOf(station)).toEqual(['printed']);
  });

  test('a job that waited for 12 hours is expired: no bridge gets it, and none may send it', async () => {
    const station = newStation();
    const { ids } = await newPackages(2);
    const [kept, claimed] = await createdJobs({ station, package_ids: ids });
    const { claimId } = await claim(station);
    for (const job of [kept, claimed]) await shiftTime('lease_until', job?.job_id, '1 hour');
    for (const job of [kept, claimed]) await shiftTime('expires_at', job?.job_id, '1 second');
    expect(await statusOf(station)).toEqual(['expired', 'expired']);
    expect((await claim(station)).jobs).toEqual([]);
    await report(claimId, kept?.job_id, 'sending').refused(409, 'label_job_not_claimed');
  });
});

describe('reports', () => {
  const REPORTS = ['sending', 'printed', 'failed', 'unconfirmed'] as const;
  // The table in the contract: which reports are accepted after which.
  test.each<[before: Report[], accepted: Report[]]>([
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
      await create({ station, package_ids: ids }).ok();
      const { claimId, jobs } = await claim(station);
      const jobId = jobs[0]?.job_id;
      for (const earlier of before) await report(claimId, jobId, earlier, 'Reason.').ok();
      const answer = await report(claimId, jobId, status, 'Reason.').status();
      expect([status, answer]).toEqual([status, accepted.includes(status) ? 200 : 409]);
    }
  });

  test('the outcome is in the audit log of the package, and a repeated report adds nothing', async () => {
    const station = newStation();
    const { ids } = await newPackages(1);
    await create({ station, package_ids: ids }).ok();
    const { claimId, jobs } = await claim(station);
    const jobId = jobs[0]?.job_id;
    await report(claimId, jobId, 'sending').ok();
    for (let n = 0; n < 2; n += 1) await report(claimId, jobId, 'failed', 'No space is left.').ok();
    const audit = (await db.auditOf(ids[0] ?? '')).map(({ action, remarks }) => ({ action, remarks }));
    expect(audit.filter(({ action }) => action.includes('.label_'))).toEqual([
      { action: 'package.label_requested', remarks: null },
      { action: 'package.label_failed', remarks: 'No space is left.' },
    ]);
    expect((await listed(station))[0]).toMatchObject({ status: 'failed', reason: 'No space is left.' });
  });

  test('a failure needs a reason, and an unknown job is rejected with 404', async () => {
    const unexplained = report(randomUUID(), randomUUID(), 'failed');
    const { errors } = await unexplained.refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: 'reason', code: 'required' }]);
    await report(randomUUID(), randomUUID(), 'sending').refused(404, 'label_job_not_found');
  });
});

describe('printing again', () => {
  const reprint = (jobId: string | undefined, printId: string = randomUUID()) =>
    staff.reprintLabelJob({ job_id: jobId, print_id: printId });

  test('a job that has not ended is rejected with 409', async () => {
    const station = newStation();
    await create({ station, package_ids: (await newPackages(1)).ids }).ok();
    const jobId = (await listed(station))[0]?.job_id;
    await reprint(jobId).refused(409, 'label_job_open');
    const { claimId } = await claim(station);
    await reprint(jobId).refused(409, 'label_job_open');
    await report(claimId, jobId, 'sending').ok();
    await reprint(jobId).refused(409, 'label_job_open');
  });

  test('is rejected with 409 for a print_id of another request, and while too many labels wait', async () => {
    const station = newStation();
    const { ids } = await newPackages(1);
    const printId = randomUUID();
    await create({ print_id: printId, station, package_ids: ids }).ok();
    const { claimId, jobs } = await claim(station);
    const jobId = jobs[0]?.job_id;
    for (const status of ['sending', 'printed'] as const) await report(claimId, jobId, status).ok();
    await reprint(jobId, printId).refused(409, 'print_id_reused');
    await fillStation(station, ids[0], 1_000);
    await reprint(jobId).refused(409, 'label_queue_full');
  });

  test('creates one new job per print_id, and the bridge may no longer begin to send the first', async () => {
    const station = newStation();
    await create({ station, package_ids: (await newPackages(1)).ids }).ok();
    const { claimId, jobs } = await claim(station);
    const jobId = jobs[0]?.job_id;
    await report(claimId, jobId, 'sending').ok();
    await shiftTime('lease_until', jobId, '1 hour');
    const printId = randomUUID();
    const replies = await Promise.all(Array.from({ length: 10 }, () => reprint(jobId, printId).ok()));
    expect(replies.map(({ data }) => data.created).sort()).toEqual([...Array<number>(9).fill(0), 1]);
    expect(replies[0]?.data.jobs).toMatchObject([{ reprint_of: jobId, station, status: 'waiting' }]);
    expect(await report(claimId, jobId, 'sending').status()).toBe(409);
    expect(await statusOf(station)).toEqual(['waiting', 'unconfirmed']);
    const { ids } = await newPackages(1);
    await create({ print_id: printId, station, package_ids: ids }).refused(409, 'print_id_reused');
    await reprint(randomUUID()).refused(404, 'label_job_not_found');
  });
});

test('pages of jobs continue with next_before, newest first', async () => {
  const station = newStation();
  const jobs = await createdJobs({ station, package_ids: (await newPackages(5)).ids });
  const newest = jobs.map(({ job_id }) => job_id).reverse();
  const page = async (before: string | null = null) => {
    const query = { station, limit: 2, ...(before ? { before } : {}) };
    const { data, meta } = await staff.listLabelJobs(query).ok();
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
  const [old, young] = await createdJobs({ station, package_ids: (await newPackages(2)).ids });
  await shiftTime('created_at', old?.job_id, '7 days 1 minute');
  await shiftTime('created_at', young?.job_id, '6 days 23 hours');
  await deleteExpired({ db: service().db, stopping: new AbortController().signal });
  expect((await listed(station)).map(({ job_id }) => job_id)).toEqual([young?.job_id]);
});

test.each([
  'listLabelJobs',
  'createLabelJobs',
  'claimLabelJobs',
  'reportLabelJob',
  'reprintLabelJob',
] as const)('%s requires a token of staff', async (id) => {
  await api.anonymous.call(id, unchecked({})).refused(401, 'token_missing');
  await api.as('iex').call(id, unchecked({})).refused(403, 'permission_denied');
});
