import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeSandbox, type OpenedSandbox } from '../../support/fixture/sandboxes.js';
import { withOutbox } from '../../support/fixture/with-outbox.js';
import { startReceiver, verified, type Receiver } from '../../support/receivers/receiver.js';
import { setEndpoints, webhookSecret } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';
import { DEMO } from '../../../fixtures/demo/seed.js';

const { service, outbox } = withOutbox({});
let receiver: Receiver;
let sandbox: OpenedSandbox;

beforeAll(async () => {
  receiver = await startReceiver();
  sandbox = await makeSandbox(service());
}, 60_000);
afterAll(() => receiver.stop());

const addMail = (tenantId: string, recipient: string) =>
  service().owner.query(
    `with mail as (
       insert into account_mails (tenant_id, id, user_id, kind, recipient)
       select tenant_id, gen_random_uuid(), id, 'password_changed', $2 from users
       where tenant_id = $1 and is_active order by id limit 1 returning tenant_id, id
     )
     select graphile_worker.add_job('sendAccountMail', json_build_object('tenantId', tenant_id, 'mailId', id)) from mail`,
    [tenantId, recipient],
  );

test('no mail leaves a sandbox, and its row says why', async () => {
  await addMail(sandbox.sandboxId, 'sandbox@courier.example');
  await addMail(DEMO.tenants.demo, 'live@courier.example');
  await outbox.untilSent('live@courier.example', 1);
  await until(async () => {
    const { rows } = await service().owner.query(
      'select status, last_error from account_mails where recipient = $1',
      ['sandbox@courier.example'],
    );
    return (
      JSON.stringify(rows) === JSON.stringify([{ status: 'skipped', last_error: 'no mail leaves a sandbox' }])
    );
  });
  expect(await outbox.to('sandbox@courier.example')).toEqual([]);
});

test('a webhook of a sandbox is signed as a live one, and says that it comes from a sandbox', async () => {
  const { owner, app } = service();
  const { courierId, sandboxId: tenantId } = sandbox;
  const at = { courierId, tenantId, add: `${receiver.url}/add`, token: null, secret: webhookSecret('s') };
  await setEndpoints({ owner, secrets: app.secrets }, at);
  const tested = await sandbox.send('manageWebhookDeliveries', {
    token: sandbox.token,
    body: { action: 'send_test', endpoint: 'add_package' },
  });
  expect(tested.status).toBeLessThan(300);
  await until(async () => receiver.received.length === 1);
  const [request] = receiver.received;
  expect(request?.headers).toMatchObject({ 'x-crossdock-sandbox': 'true' });
  if (!request) throw new Error('Nothing was received.');
  expect(verified(webhookSecret('s'), request)).toMatchObject({ type: 'webhook.test' });
});
