import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signingSecrets } from '../../../../src/modules/couriers/settings/webhook-secret.js';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { rounds } from '../../../support/harness/effort.js';
import { untilAdmitted } from '../../../support/service/service.js';
import { matching } from '../../../support/assertions/matching.js';
import { DAY_MS, secretIn, URL, withSigningSecrets } from './signing-secrets.js';

const { IEX, HRB } = DEMO.couriers;
const STANDARD = /^whsec_[A-Za-z0-9+/]{43}=$/;

const { service, update, set, rotate, settings, rowOf, signersAfter, auditOf } = withSigningSecrets();

describe('first webhook secret', () => {
  test.each(['api_url_add_package', 'api_url_update_package'])(
    'is created when %s is first set, is readable and does not change afterwards',
    async (field) => {
      const before = (await auditOf('courier.webhook_secret_made')).length;
      expect((await settings())['webhook_secret']).toBeNull();
      const secret = secretIn(await set({ [field]: URL }).answer());
      expect(secret).toMatch(STANDARD);
      expect(await settings()).toMatchObject({ webhook_secret: secret, webhook_secret_rotated_at: null });
      for (const body of [{ api_url_add_package: URL, api_url_update_package: `${URL}/2` }, { [field]: '' }])
        expect(secretIn(await set(body).answer())).toBe(secret);
      expect(await auditOf('courier.webhook_secret_made')).toHaveLength(before + 1);
    },
  );

  test('is not created for other settings such as the customer URL', async () => {
    const others: Record<string, string>[] = [
      { api_url_get_customers: URL },
      { api_url_add_package: '' },
      { address2: 'x' },
    ];
    for (const body of others) expect((await set(body).ok()).data.webhook_secret).toBeNull();
  });

  test('is different for each courier', async () => {
    const own = secretIn(await set({ api_url_add_package: URL }).answer());
    const hrbs = secretIn(await update({ as: 'hrb', body: { api_url_add_package: URL } }).answer());
    expect(hrbs).not.toBe(own);
    expect((await rowOf(HRB)).webhookSecretCipher).toMatch(/^v1\./);
  });

  const CALLERS = rounds(40, 100);

  test(`is created once for ${CALLERS} concurrent updates`, async () => {
    const before = (await auditOf('courier.webhook_secret_made')).length;
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, (_, n) =>
        untilAdmitted(() => set({ api_url_add_package: `${URL}/${n}` }).answer()),
      ),
    );
    expect(new Set(replies.map(secretIn)).size).toBe(1);
    expect(await auditOf('courier.webhook_secret_made')).toHaveLength(before + 1);
  }, 60_000);

  test('works with the public Standard Webhooks library', async () => {
    const secret = secretIn(await set({ api_url_add_package: URL }).answer());
    const [signer] = signingSecrets(service().app.secrets, await rowOf(IEX), new Date());
    const [body, now] = ['{"type":"webhook.test"}', new Date()];
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(String(signer)).sign('msg_1', now, body),
    };
    expect(new Webhook(secret).verify(body, headers)).toEqual({ type: 'webhook.test' });
  });

  test('is stored encrypted and bound to its column', async () => {
    const secret = secretIn(await set({ api_url_add_package: URL }).answer());
    const { webhookSecretCipher: cipher } = await rowOf(IEX);
    expect(cipher).toMatch(/^v1\.[\w-]+$/);
    await rotate().ok();
    // The encrypted secret of one column is invalid in the other.
    await service().owner.query(
      'update couriers set webhook_previous_secret_cipher = webhook_secret_cipher where id = $1',
      [IEX],
    );
    await expect(signersAfter(1)).rejects.toThrow('ciphertext was altered');
    const { rows } = await service().owner.query<{ text: string }>(
      'select row_to_json(c)::text as text from couriers c',
    );
    expect(rows.map(({ text }) => text).join()).not.toContain(secret.slice('whsec_'.length));
  });
});

describe('rotation of the webhook secret', () => {
  test.each([
    ['urlencoded', { urlencoded: { action: 'rotate_webhook_secret' } }],
    ['multipart', { form: { action: 'rotate_webhook_secret' } }],
  ])('by a %s form signs with the new secret first and with the old one for 24 hours', async (_, form) => {
    const old = secretIn(await set({ api_url_add_package: URL }).answer());
    const reply = await update({ as: 'iex', ...form }).answer();
    const fresh = secretIn(reply);
    expect(reply.body).toMatchObject({
      status: 'success',
      message: 'New secret created. The previous secret also signs for 24 hours.',
      data: { webhook_secret: expect.stringMatching(STANDARD) },
    });
    expect(fresh).not.toBe(old);
    expect(await settings()).toMatchObject({
      webhook_secret: fresh,
      webhook_secret_rotated_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    });
    for (const ms of [0, 1, DAY_MS - 1]) expect(await signersAfter(ms)).toEqual([fresh, old]);
    for (const ms of [DAY_MS, DAY_MS + 1, 400 * DAY_MS]) expect(await signersAfter(ms)).toEqual([fresh]);
  });

  test('ends the oldest secret at once if it is repeated', async () => {
    await set({ api_url_add_package: URL }).ok();
    const second = secretIn(await rotate().answer());
    const third = secretIn(await rotate().answer());
    expect(await signersAfter(0)).toEqual([third, second]);
  });

  test('creates the first secret if there is none, without a second signature', async () => {
    const first = secretIn(await rotate().answer());
    expect(await signersAfter(0)).toEqual([first]);
    expect((await settings())['webhook_secret_rotated_at']).toBeNull();
    expect(secretIn(await set({ api_url_add_package: URL }).answer())).toBe(first);
  });

  test('signs nothing without a secret', async () => {
    expect(await signersAfter(0)).toEqual([]);
  });

  test('of 50 simultaneous rotations, each is audited, the last two sign, and the API key is unchanged', async () => {
    await set({ api_url_add_package: URL }).ok();
    const before = (await auditOf('courier.webhook_secret_rotated')).length;
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => untilAdmitted(() => rotate().answer())),
    );
    const made = replies.map(secretIn);
    expect(new Set(made).size).toBe(50);
    const signers = await signersAfter(0);
    expect(signers).toHaveLength(2);
    for (const signer of signers) expect(made).toContain(signer);
    expect((await settings())['webhook_secret']).toBe(signers[0]);
    expect((await settings())['api_key']).toBe(DEMO.apiKeys.IEX);
    const audited = await auditOf('courier.webhook_secret_rotated');
    expect(audited).toHaveLength(before + 50);
    const { webhookSecretCipher: stored } = await rowOf(IEX);
    expect(audited.map(({ text }) => text).join()).not.toMatch(
      matching(/whsec_|v1\./, made[0] ?? '', stored ?? ''),
    );
  }, 60_000);
});

describe('state of webhook URLs', () => {
  const insertRows = (endpoint: string, columns: Record<string, string | number | null>) =>
    service().owner.query(
      `insert into webhook_endpoints select (jsonb_populate_record(null::webhook_endpoints, $1)).*`,
      [JSON.stringify({ tenant_id: DEMO.tenants.demo, courier_id: IEX, endpoint, failures: 0, ...columns })],
    );
  const health = async () => (await settings())['webhooks'] as Record<string, Record<string, unknown>>;
  const SET = { api_url_add_package: URL, api_url_update_package: `${URL}/2` };
  const UNTRIED = {
    failing_since: null,
    paused_at: null,
    last_success_at: null,
    last_failure_at: null,
    failures: 0,
  };

  test('is none, active, failing or paused', async () => {
    expect((await health())['add_package']).toEqual({ state: 'none', ...UNTRIED });
    await set(SET).ok();
    expect(await health()).toEqual({
      add_package: { state: 'active', ...UNTRIED },
      update_package: { state: 'active', ...UNTRIED },
    });
    await insertRows('add_package', { last_success_at: '2026-11-21T08:12:44.9Z' });
    await insertRows('update_package', {
      failing_since: '2026-11-19T07:55:02Z',
      last_success_at: '2026-11-19T07:40:18Z',
      last_failure_at: '2026-11-21T08:00:31Z',
      failures: 41,
    });
    const failing = {
      state: 'failing',
      failing_since: '2026-11-19 07:55:02',
      paused_at: null,
      last_success_at: '2026-11-19 07:40:18',
      last_failure_at: '2026-11-21 08:00:31',
      failures: 41,
    };
    expect(await health()).toEqual({
      add_package: { state: 'active', ...UNTRIED, last_success_at: '2026-11-21 08:12:44' },
      update_package: failing,
    });
    await service().owner.query(
      "update webhook_endpoints set paused_at = '2026-11-21 08:00:31Z' where endpoint = 'update_package'",
    );
    const paused = { ...failing, state: 'paused', paused_at: '2026-11-21 08:00:31' };
    expect((await health())['update_package']).toEqual(paused);
    // A sibling courier has its own state.
    expect((await settings('hrb'))['webhooks']).toEqual({
      add_package: { state: 'none', ...UNTRIED },
      update_package: { state: 'none', ...UNTRIED },
    });
  });

  test('a new URL resets its state and ends a pause, but other settings do not', async () => {
    await set(SET).ok();
    const paused = { failing_since: '2026-11-19T07:55:02Z', paused_at: '2026-11-21T08:00:31Z', failures: 9 };
    await insertRows('add_package', paused);
    await insertRows('update_package', paused);
    await set({ ...SET, address2: 'elsewhere' }).ok();
    const states = async () => Object.values(await health()).map(({ state }) => state);
    expect(await states()).toEqual(['paused', 'paused']);
    const reply = await set({ api_url_update_package: `${URL}/3` }).ok();
    expect(reply.data.webhooks.update_package).toEqual({ state: 'active', ...UNTRIED });
    expect(await states()).toEqual(['paused', 'active']);
    await set({ api_url_add_package: '' }).ok();
    expect(await states()).toEqual(['none', 'active']);
    await set({ api_url_add_package: URL }).ok();
    expect(await states()).toEqual(['active', 'active']);
  });
});
