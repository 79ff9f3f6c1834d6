import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { untilAdmitted, type Call } from '../../../support/service/service.js';
import { matching } from '../../../support/assertions/matching.js';
import { DAY_MS, secretIn, URL, withSigningSecrets } from './signing-secrets.js';

const { IEX, HRB } = DEMO.couriers;

const { api, service, update, set, rotate, settings, rowOf, signersAfter, auditOf } = withSigningSecrets();

const idOf = (secret: string) => createHash('sha256').update(secret).digest('hex').slice(0, 16);

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
