import { beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withOutbox } from '../../../support/fixture/with-outbox.js';
import { mailsOf, makeManifest, makePackages, manage, move } from '../../../support/receivers/mails.js';
import { until } from '../../../support/service/processes.js';
import { SOURCE } from './queued-mails.js';

const { service, outbox, db } = withOutbox({});

const { IEX, HRB } = DEMO.couriers;
const VICTIM = 'victim@quay.example';

beforeEach(async () => {
  await db.query("delete from courier_quotas where kind = 'manifest_mails'");
  await db.query('update couriers set email = $2 where id = $1', [IEX, VICTIM]);
});

const setUsed = (courierId: string, used: number) =>
  db.query(
    `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
     values ($1, $2, 'manifest_mails', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $3)`,
    [DEMO.tenants.demo, courierId, used],
  );

const jobs = () =>
  db.query("select payload from graphile_worker._private_jobs where payload::text like '%mailId%'");

const untilNoJobs = () => until(async () => (await jobs()).length === 0);

const skipped = {
  status: 'skipped',
  recipient: null,
  last_error: 'the courier has had 60 mails about manifests today',
  settled_at: expect.any(Date),
};

test('a user of the warehouse in a loop of manifests sends 60 mails to a courier, and further manifests change', async () => {
  const [packageId = ''] = await makePackages(service(), SOURCE.IEX, [{}]);
  const states: string[] = [];
  for (let n = 0; n < 63; n += 1) {
    const id = await makeManifest(service(), [packageId]);
    await move(service(), id, 'ready');
    states.push((await mailsOf(service(), id))[0]?.status === 'skipped' ? 'skipped' : 'queued');
    for (const action of [
      { action: 'remove_packages', package_ids: [packageId] },
      { action: 'delete_manifest' },
    ])
      expect((await manage(service(), { ...action, manifest_id: id })).status).toBe(200);
  }
  expect(states).toEqual([...Array(60).fill('queued'), ...Array(3).fill('skipped')]);
  expect(await db.count('manifest_mails', { courier_id: IEX, status: 'skipped' })).toBeGreaterThanOrEqual(3);
}, 60_000);

test('a manifest that goes back and forth mails a courier three times, and queues no job beyond', async () => {
  const [packageId = ''] = await makePackages(service(), SOURCE.IEX, [{}]);
  const id = await makeManifest(service(), [packageId]);
  const toAndFro = async () => {
    await move(service(), id, 'ready');
    expect((await manage(service(), { action: 'reopen_manifest', manifest_id: id })).status).toBe(200);
  };
  for (let n = 0; n < 3; n += 1) await toAndFro();
  const mails = await mailsOf(service(), id);
  expect(mails.map((mail) => mail['manifest_status'])).toEqual(['ready', 'ready', 'ready']);
  await untilNoJobs();
  for (let n = 0; n < 5; n += 1) await toAndFro();
  expect(await jobs()).toEqual([]);
  expect(await mailsOf(service(), id)).toHaveLength(3);
  // Another status has its own mails.
  await move(service(), id, 'ready');
  await move(service(), id, 'shipped');
  expect((await mailsOf(service(), id)).map((mail) => mail['manifest_status'])).toEqual([
    ...Array(3).fill('ready'),
    'shipped',
  ]);
});

test('a skipped mail queues no job', async () => {
  await setUsed(IEX, 60);
  await untilNoJobs();
  const [packageId = ''] = await makePackages(service(), SOURCE.IEX, [{}]);
  const id = await makeManifest(service(), [packageId]);
  await move(service(), id, 'ready');
  expect(await mailsOf(service(), id)).toMatchObject([skipped]);
  expect(await jobs()).toEqual([]);
});

test('a courier above its limit is skipped with the reason, and the other couriers of the manifest get their mails', async () => {
  await setUsed(IEX, 60);
  const email = 'other@quay.example';
  await db.query('update couriers set email = $2 where id = $1', [HRB, email]);
  const packages = [
    ...(await makePackages(service(), SOURCE.IEX, [{}])),
    ...(await makePackages(service(), SOURCE.HRB, [{}])),
  ];
  const id = await makeManifest(service(), packages);
  await move(service(), id, 'ready');
  await outbox.untilSent(email, 1);
  const mails = await mailsOf(service(), id);
  expect(mails.find(({ courier_id }) => courier_id === IEX)).toMatchObject({ ...skipped, attempt_count: 0 });
  const [manifest] = await db.query('select manifest_number from manifests where id = $1', [id]);
  const number = String(manifest?.['manifest_number']);
  const subjects = async (to: string) => (await outbox.to(to)).map(({ subject }) => subject);
  expect((await subjects(email)).filter((subject) => subject.includes(number))).toHaveLength(1);
  expect((await subjects(VICTIM)).filter((subject) => subject.includes(number))).toEqual([]);
});

test('of 20 manifests that become ready at the same time, five mail a courier that has five mails left', async () => {
  await setUsed(IEX, 55);
  const ids = [];
  for (const packageId of await makePackages(service(), SOURCE.IEX, Array(20).fill({})))
    ids.push(await makeManifest(service(), [packageId]));
  const replies = await Promise.all(
    ids.map((manifest_id) => manage(service(), { action: 'update_meta', manifest_id, status: 'ready' })),
  );
  expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200));
  const mails = (await Promise.all(ids.map((id) => mailsOf(service(), id)))).flat();
  expect(mails).toHaveLength(20);
  expect(mails.filter(({ status }) => status === 'skipped')).toHaveLength(15);
});
