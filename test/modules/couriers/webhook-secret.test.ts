import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signingSecrets, type SigningRow } from '../../../src/modules/couriers/settings/webhook-secret.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { rounds } from '../../support/harness/effort.js';
import { untilAdmitted, type Call, type Reply } from '../../support/service/service.js';
import { matching } from '../../support/assertions/matching.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX, HRB } = DEMO.couriers;
const URL = 'https://partner.example/hooks';
const STANDARD = /^whsec_[A-Za-z0-9+/]{43}=$/;
const DAY_MS = 24 * 60 * 60 * 1000;

const { api, service } = withService({ poolSize: 20 });

// Each test starts with a courier that never had a webhook.
beforeEach(async () => {
  await service().owner.query(
    `update couriers set api_url_add_package = null, api_url_update_package = null, api_url_get_customers = null,
       webhook_secret_cipher = null, webhook_previous_secret_cipher = null, webhook_secret_rotated_at = null`,
  );
  await service().owner.query('delete from webhook_endpoints');
});

const update = (call: Call) => api.with(call).updateCourierSettings();
const set = (body: Record<string, string>) => update({ as: 'iex', body });
const rotate = () => update({ as: 'iex', urlencoded: { action: 'rotate_webhook_secret' } });
const settings = async (as = 'iex') =>
  (await api.as(as).getCourierSettings().ok()).data as Record<string, unknown>;
const idOf = (secret: string) => createHash('sha256').update(secret).digest('hex').slice(0, 16);
const secretIn = ({ body }: Reply) => String(body['data'].webhook_secret);

async function rowOf(courierId: string): Promise<SigningRow> {
  const { rows } = await service().owner.query(
    `select tenant_id as "tenantId", id, webhook_secret_cipher as "webhookSecretCipher",
       webhook_previous_secret_cipher as "webhookPreviousSecretCipher",
       webhook_secret_rotated_at as "webhookSecretRotatedAt"
     from couriers where id = $1`,
    [courierId],
  );
  return rows[0];
}

/** Returns the secrets that sign a webhook sent this long after the rotation. */
async function signersAfter(ms: number): Promise<string[]> {
  const row = await rowOf(IEX);
  const now = new Date((row.webhookSecretRotatedAt?.getTime() ?? 0) + ms);
  return signingSecrets(service().app.secrets, row, now);
}

async function auditOf(action: string): Promise<{ text: string }[]> {
  const { rows } = await service().owner.query<{ text: string }>(
    `select row_to_json(a)::text as text from audit_entries a where action = $1 and entity_id = $2`,
    [action, IEX],
  );
  return rows;
}

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

describe('end of the previous webhook secret', () => {
  const end = (call: Call = { as: 'iex' }) => api.with(call).endPreviousWebhookSecret();
  const ENDED = { message: 'The previous secret no longer signs.' };
  const NONE = { message: 'There is no previous secret. Nothing was changed.' };

  test('leaves only the current secret, which signs on, and is audited without a secret', async () => {
    const old = secretIn(await set({ api_url_add_package: URL }).ok());
    const fresh = secretIn(await rotate().ok());
    expect(await signersAfter(0)).toEqual([fresh, old]);
    const before = (await auditOf('courier.webhook_secret_ended')).length;
    expect(await end().ok()).toMatchObject(ENDED);
    expect(await signersAfter(0)).toEqual([fresh]);
    expect(await settings()).toMatchObject({ webhook_secret: fresh, webhook_secret_rotated_at: null });
    const audited = await auditOf('courier.webhook_secret_ended');
    expect(audited).toHaveLength(before + 1);
    expect(audited.map(({ text }) => text).join()).not.toMatch(matching(/whsec_|v1\./, old, fresh));
  });

  test('changes and audits nothing if there is no previous secret', async () => {
    const before = (await auditOf('courier.webhook_secret_ended')).length;
    expect(await end().ok()).toMatchObject(NONE);
    const only = secretIn(await set({ api_url_add_package: URL }).ok());
    expect(await end().ok()).toMatchObject(NONE);
    expect(await signersAfter(0)).toEqual([only]);
    await rotate().ok();
    expect([await end().ok(), await end().ok()]).toMatchObject([ENDED, NONE]);
    expect(await auditOf('courier.webhook_secret_ended')).toHaveLength(before + 1);
  });

  test('is followed by rotations with a full overlap', async () => {
    await set({ api_url_add_package: URL }).ok();
    const second = secretIn(await rotate().ok());
    await end().ok();
    const third = secretIn(await rotate().ok());
    expect(await signersAfter(DAY_MS - 1)).toEqual([third, second]);
  });

  test('leaves the secrets of other couriers, and staff end it for a courier', async () => {
    await set({ api_url_add_package: URL }).ok();
    await rotate().ok();
    await update({ as: 'hrb', body: { api_url_add_package: URL } }).ok();
    await update({ as: 'hrb', urlencoded: { action: 'rotate_webhook_secret' } }).ok();
    const hrbs = await rowOf(HRB);
    expect(hrbs.webhookPreviousSecretCipher).not.toBeNull();
    expect(await end({ as: 'iex', body: { courier_id: HRB } }).ok()).toMatchObject(ENDED);
    expect(await rowOf(HRB)).toEqual(hrbs);
    expect(await end({ as: 'manager', body: { courier_id: HRB } }).ok()).toMatchObject(ENDED);
    expect((await rowOf(HRB)).webhookPreviousSecretCipher).toBeNull();
  });

  test('ends the secret that the rotation and the settings name, and a repetition changes nothing', async () => {
    await set({ api_url_add_package: URL }).ok();
    const { data } = await rotate().ok();
    const meant = { webhook_previous_secret_id: data.webhook_previous_secret_id };
    expect(await settings()).toMatchObject(meant);
    expect(await end({ as: 'iex', body: meant }).ok()).toMatchObject(ENDED);
    expect(await signersAfter(0)).toEqual([data.webhook_secret]);
    expect(await settings()).toMatchObject({ webhook_previous_secret_id: null });
    expect(await end({ as: 'iex', body: meant }).ok()).toMatchObject(NONE);
  });

  test('is refused if somebody has rotated since, or if the named secret is the current one', async () => {
    const leaked = secretIn(await set({ api_url_add_package: URL }).ok());
    const second = secretIn(await rotate().ok());
    // As the contract describes it, so that the owner of a leaked secret can find out.
    const named = { as: 'iex', body: { webhook_previous_secret_id: idOf(leaked) } };
    const third = secretIn(await rotate().ok());
    const before = (await auditOf('courier.webhook_secret_ended')).length;
    await end(named).refused(409, 'webhook_secret_changed');
    expect(await signersAfter(0)).toEqual([third, second]);
    await end({ as: 'iex', body: { webhook_previous_secret_id: idOf(second) } }).ok();
    await end({ as: 'iex', body: { webhook_previous_secret_id: idOf(third) } }).refused(
      409,
      'webhook_secret_changed',
    );
    expect(await signersAfter(0)).toEqual([third]);
    expect(await auditOf('courier.webhook_secret_ended')).toHaveLength(before + 1);
  });

  test('is not named any more after its 24 hours, nor for a courier without a rotation', async () => {
    expect((await rotate().ok()).data.webhook_previous_secret_id).toBeNull();
    expect(await settings()).toMatchObject({ webhook_previous_secret_id: null });
    await rotate().ok();
    expect(await settings()).toMatchObject({
      webhook_previous_secret_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    await service().owner.query(
      "update couriers set webhook_secret_rotated_at = webhook_secret_rotated_at - interval '24 hours' where id = $1",
      [IEX],
    );
    expect(await settings()).toMatchObject({ webhook_previous_secret_id: null });
  });

  test('of two people who rotate and end at once, nobody ends a secret that the other has just made', async () => {
    await set({ api_url_add_package: URL }).ok();
    const people = Array.from({ length: 10 }, async () => {
      const { data } = await untilAdmitted(() => api.as('iex').rotateWebhookSecret().answer());
      const { webhook_secret: made, webhook_previous_secret_id: meant } = data;
      const { status } = await untilAdmitted(() =>
        end({ as: 'iex', body: { webhook_previous_secret_id: meant } }).answer(),
      );
      return { made: idOf(made), meant, status };
    });
    const done = await Promise.all(people);
    // A secret that was made is ended only by the person whose rotation has replaced it.
    const ended = done.filter(({ status }) => status === 200).map(({ meant }) => meant);
    const refused = done.filter(({ status }) => status === 409).map(({ meant }) => meant);
    expect([ended.length + refused.length, new Set([...ended, ...refused]).size]).toEqual([10, 10]);
    expect(idOf((await signersAfter(0))[0] ?? '')).toBe(
      done.map(({ made }) => made).find((id) => !done.some(({ meant }) => meant === id)),
    );
  }, 60_000);

  test('of 30 simultaneous calls, one ends it and 29 change nothing', async () => {
    await set({ api_url_add_package: URL }).ok();
    await rotate().ok();
    const replies = await Promise.all(Array.from({ length: 30 }, () => untilAdmitted(() => end().answer())));
    const ended = replies.filter(({ status, message }) => status === 200 && message === ENDED.message);
    const none = replies.filter(({ status, message }) => status === 200 && message === NONE.message);
    expect([ended.length, none.length]).toEqual([1, 29]);
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
