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

test('mails to a server that does not respond leave the slots to other jobs, and all are sent later', async () => {
  const { id: userId } = await insertMailedUser(service().owner, 'w', { full_name: 'W' });
  await db.query(
    `with mail as (
       insert into account_mails (tenant_id, id, user_id, kind, recipient)
       select $1, new_id(), $2, 'email_changed', 'many@quay.example' from generate_series(1, 15) returning id)
     select graphile_worker.add_job('sendAccountMail', json_build_object('tenantId', $1::text, 'mailId', id), max_attempts => 25) from mail`,
    [DEMO.tenants.demo, userId],
  );
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
