import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { playSandbox } from '../../../../src/modules/sandboxes/lives/play.js';
import { livesOf, type Lives } from './lives-calls.js';
import { makeSandbox, type OpenedSandbox } from '../../../support/fixture/sandboxes.js';
import { withService } from '../../../support/fixture/with-service.js';
import { SCOPES_OF_COURIERS, serviceTokenOf } from '../../../support/service/principals.js';

const { api, service } = withService();
let sandbox: OpenedSandbox;
let lives: Lives;

beforeEach(async () => {
  sandbox = await makeSandbox(service());
  lives = livesOf(service(), sandbox);
  await lives.manage({ action: 'set_speed', speed: 0 });
}, 60_000);

const manage = async (body: object) => {
  const { status, body: answer } = await sandbox.send('manageSandboxLives', { token: sandbox.token, body });
  return { status, code: answer['code'] };
};
const inSandbox = (statement: string, ...more: unknown[]) =>
  service().owner.query(statement, [sandbox.sandboxId, ...more]);

describe('a refused step', () => {
  test('of a deleted pre-alert ends its life, and the others go on', async () => {
    const prealertId = await lives.announce('LIFE-HAPPY-1');
    await lives.announce('LIFE-LOST-2');
    await lives.manage({ action: 'advance', hours: 1 });
    const deleted = await sandbox.send('deletePrealert', {
      token: sandbox.token,
      body: { prealert_id: prealertId },
    });
    expect(deleted.status).toBe(200);
    const life = await lives.advance('LIFE-HAPPY-1', 800);
    expect(life).toMatchObject({
      state: 'refused',
      steps_played: 0,
      package_id: null,
      next_step: { step: 'package_received', due_at: null },
      refusal: { code: 'prealert_not_found' },
    });
    expect((await lives.lifeOf('LIFE-LOST-2')).state).toBe('finished');
    // It is not tried again.
    await lives.advance('LIFE-HAPPY-1', 800);
    expect(await lives.lifeOf('LIFE-HAPPY-1')).toEqual(life);
  });

  test('of an operation has its code, and has changed nothing', async () => {
    await lives.announce('LIFE-HOLD-1');
    const { package_id } = await lives.advance('LIFE-HOLD-1', 3);
    await inSandbox(`update packages set status = 'returned' where tenant_id = $1`);
    const life = await lives.advance('LIFE-HOLD-1', 800);
    expect(life).toMatchObject({ state: 'refused', steps_played: 1, package_id });
    expect(life.refusal?.code).toBe('package_invalid_transition');
    expect(await lives.history(package_id)).toEqual(['received']);
  });

  test('of too many claims says so: the quota of claims is that of the courier', async () => {
    await inSandbox(
      `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
       values ($1, $2, 'claim_attempts', date_trunc('hour', now() at time zone 'UTC') at time zone 'UTC', 5)`,
      sandbox.courierId,
    );
    const [started] = (await lives.manage({ action: 'start', life: 'claimed' })).lives;
    const life = await lives.advance(String(started?.tracking_number), 800);
    expect(life).toMatchObject({ state: 'refused', steps_played: 1, refusal: { code: 'quota_exceeded' } });
  });

  test('that fails for no reason of the courier is tried five times, and then ends its life', async () => {
    await lives.announce('LIFE-HAPPY-1');
    await lives.manage({ action: 'advance', hours: 3 });
    await service().owner.query(
      `create function fail_receipts() returns trigger language plpgsql as 'begin raise exception ''disk full''; end';
       create trigger fail_receipts before insert on packages for each row execute function fail_receipts()`,
    );
    try {
      for (let attempt = 1; attempt <= 5; attempt += 1) {
        expect((await lives.lifeOf('LIFE-HAPPY-1')).state).toBe('playing');
        await expect(lives.play()).rejects.toThrow('disk full');
      }
      const life = await lives.lifeOf('LIFE-HAPPY-1');
      expect(life).toMatchObject({ state: 'refused', refusal: { code: 'internal_error' } });
      expect(JSON.stringify(life)).not.toContain('disk full');
      await lives.play();
    } finally {
      await service().owner.query('drop function fail_receipts cascade');
    }
  });
});

describe('a life', () => {
  test('is stopped once, and plays nothing more', async () => {
    await lives.announce('LIFE-HAPPY-1');
    const { life_id } = await lives.advance('LIFE-HAPPY-1', 3);
    expect((await manage({ action: 'stop', life_id })).status).toBe(200);
    expect(await manage({ action: 'stop', life_id })).toEqual({ status: 409, code: 'sandbox_life_ended' });
    expect(await manage({ action: 'stop', life_id: DEMO.couriers.IEX })).toEqual({
      status: 404,
      code: 'sandbox_life_not_found',
    });
    expect(await lives.advance('LIFE-HAPPY-1', 800)).toMatchObject({ state: 'stopped', steps_played: 2 });
    const { rows } = await inSandbox(
      `select action from audit_entries where tenant_id = $1 and action like 'courier.sandbox_li%' order by id`,
    );
    expect(rows).toEqual([
      { action: 'courier.sandbox_lives_started' },
      { action: 'courier.sandbox_life_stopped' },
    ]);
  });

  test('of an ended sandbox plays nothing more', async () => {
    await lives.announce('LIFE-HAPPY-1');
    await lives.manage({ action: 'advance', hours: 800 });
    await api.as('iex').manageSandbox({ action: 'end' }).ok();
    await lives.play();
    const { rows } = await inSandbox('select state, steps_played from sandbox_lives where tenant_id = $1');
    expect(rows).toEqual([{ state: 'playing', steps_played: 0 }]);
  });
});

describe('live accounts', () => {
  test.each(['admin', 'manager', 'iex', 'two/admin'])('%s: both operations are refused', async (as) => {
    await api.as(as).getSandboxLives().refused(409, 'not_a_sandbox');
    await api.as(as).manageSandboxLives({ action: 'advance', hours: 1 }).refused(409, 'not_a_sandbox');
  });

  test('their service tokens are refused, and their magic numbers start no life', async () => {
    const token = await serviceTokenOf(service(), 'iex', SCOPES_OF_COURIERS);
    await api.withToken(token).getSandboxLives().refused(409, 'not_a_sandbox');
    const body = { UserCode: 'IEX-1001', TrackingNumber: 'LIFE-HAPPY-LIVE' };
    await api.withKey(DEMO.apiKeys.IEX).submitPrealert(body).created();
    const own = { db: service().db, stopping: new AbortController().signal };
    await playSandbox(own, { tenantId: DEMO.tenants.demo });
    await lives.play();
    const { rows } = await service().owner.query(
      'select tracking_number from sandbox_lives where tenant_id = $1',
      [DEMO.tenants.demo],
    );
    expect(rows).toEqual([]);
    expect((await lives.state()).lives).toEqual([]);
  });

  test('another sandbox sees and stops nothing of it', async () => {
    await lives.announce('LIFE-HAPPY-1');
    const { life_id } = await lives.advance('LIFE-HAPPY-1', 3);
    const other = await makeSandbox(service(), 'hrb');
    const theirs = livesOf(service(), other);
    expect((await theirs.state()).lives).toEqual([]);
    const body = { action: 'stop', life_id };
    const refused = await other.send('manageSandboxLives', { token: other.token, body });
    expect(refused).toMatchObject({ status: 404, body: { code: 'sandbox_life_not_found' } });
    await theirs.manage({ action: 'advance', hours: 800 });
    await theirs.play();
    expect((await lives.lifeOf('LIFE-HAPPY-1')).steps_played).toBe(2);
  });
});
