import { beforeAll, afterAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertMailedUser } from '../../support/builders/users.js';
import { assignedLater } from '../../support/fixture/assigned-later.js';
import { withService } from '../../support/fixture/with-service.js';
import { startSes, type Ses } from '../../support/receivers/ses.js';
import { until } from '../../support/service/processes.js';

// Mails use a share of the worker's slots. Of 8 slots, one tenant has one.

const [ses, setSes] = assignedLater<Ses>('SES');
beforeAll(async () => {
  setSes(await startSes());
  ses.answer = 'hang';
});
const { db, service } = withService(() => ({
  worker: true,
  env: {
    WORKER_CONCURRENCY: '8',
    SES_REGION: 'us-east-1',
    SES_ENDPOINT: ses.url,
    AWS_ACCESS_KEY_ID: 'AKIDTEST',
    AWS_SECRET_ACCESS_KEY: 'test',
    MAIL_FROM: 'notices@crossdock.example',
  },
}));
afterAll(() => ses.stop());

const isDone = async (kind: string) =>
  (await db.query(`select from graphile_worker.jobs where task_identifier = '${kind}'`)).length === 0;

const queueAccountMail = (userId: string, many: number) =>
  db.query(
    `with mail as (
       insert into account_mails (tenant_id, id, user_id, kind, recipient)
       select $1, new_id(), $2, 'email_changed', 'many@quay.example' from generate_series(1, $3::int) returning id)
     select graphile_worker.add_job('sendAccountMail', json_build_object('tenantId', $1::text, 'mailId', id), max_attempts => 25) from mail`,
    [DEMO.tenants.demo, userId, many],
  );

test('mails to a server that does not respond leave the slots to other jobs, and all are sent later', async () => {
  const { id: userId } = await insertMailedUser(service().owner, 'w', { full_name: 'W' });
  await queueAccountMail(userId, 15);
  await until(() => Promise.resolve(ses.requests.length > 0));
  await db.query("select graphile_worker.add_job('sweep')");
  await until(() => isDone('sweep'), 8_000);
  expect(ses.requests).toHaveLength(1);
  // The jobs that have returned to the queue keep their attempts.
  const waiting = await db.query(
    `select from graphile_worker.jobs where task_identifier = 'sendAccountMail' and locked_at is null and attempts = 0 and max_attempts = 25`,
  );
  expect(waiting.length).toBeGreaterThan(10);
  ses.answer = 'accept';
  ses.hangUp();
  await until(async () => (await db.count('account_mails', { user_id: userId, status: 'sent' })) === 15);
  expect(
    new Set(ses.accepted.map(({ bytes }) => /^Message-ID: .*$/im.exec(bytes.toString())?.[0])).size,
  ).toBe(15);
});

test('a mail about an account does not wait as long as many about manifests', async () => {
  const { id: userId } = await insertMailedUser(service().owner, 'x', { full_name: 'X' });
  ses.answer = 'hang';
  const sent = ses.requests.length;
  await queueAccountMail(userId, 1);
  await until(() => Promise.resolve(ses.requests.length > sent));
  await db.query(
    `select graphile_worker.add_job('sendManifestMail', json_build_object('tenantId', $1::text, 'mailId', new_id()))
     from generate_series(1, 400)`,
    [DEMO.tenants.demo],
  );
  // The longest wait that was given to a mail of a kind, in seconds.
  const longestWait = async (kind: string) => {
    const [row] = await db.query<{ seconds: number }>(
      `select coalesce(extract(epoch from max(run_at) - now()), 0)::float8 as seconds from graphile_worker.jobs
       where task_identifier = '${kind}' and locked_at is null`,
    );
    return row?.seconds ?? 0;
  };
  await until(async () => (await longestWait('sendManifestMail')) > 12);
  await queueAccountMail(userId, 5);
  await until(async () => (await longestWait('sendAccountMail')) > 0.5);
  expect(await longestWait('sendAccountMail')).toBeLessThan(4);
  await db.query(
    "delete from graphile_worker._private_jobs where payload::text like '%mailId%' and locked_at is null",
  );
  ses.answer = 'accept';
  ses.hangUp();
});
