import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { playSandboxes } from '../../../../src/modules/sandboxes/lives/play.js';
import { livesOf, type Lives } from './lives-calls.js';
import { makeSandbox, type OpenedSandbox } from '../../../support/fixture/sandboxes.js';
import { describeOperation } from '../../../support/service/contract.js';
import { withService } from '../../../support/fixture/with-service.js';

const examples = describeOperation('manageSandboxLives').requestBody?.content['application/json']?.examples;
const exampleRequests = Object.entries(examples ?? {}).map(([name, { value }]): [string, object] => [
  name,
  Object(value),
]);

const { service } = withService();
let sandbox: OpenedSandbox;
let lives: Lives;

beforeEach(async () => {
  // A new sandbox has what the one before has used up.
  await service().owner.query("delete from courier_quotas where kind = 'sandbox_lives'");
  sandbox = await makeSandbox(service());
  lives = livesOf(service(), sandbox);
}, 60_000);

const manage = async (body: object) => {
  const { status, body: answer } = await sandbox.send('manageSandboxLives', { token: sandbox.token, body });
  return { status, code: answer['code'], message: answer['message'] };
};

const HOUR_MS = 3_600_000;
const hoursOf = (time: string) => new Date(`${time.replace(' ', 'T')}Z`).getTime() / HOUR_MS;

describe('the clock', () => {
  test('shows the real time at first, and runs an hour per minute', async () => {
    const { clock, lives: none } = await lives.state();
    expect(clock).toMatchObject({ speed: 60, steps_due: 0 });
    expect(Math.abs(hoursOf(clock.sandbox_time) * HOUR_MS - Date.now())).toBeLessThan(60_000);
    expect(none).toEqual([]);
    await lives.manage({ action: 'set_speed', speed: 60 });
    await service().owner.query(
      `update sandbox_clocks set anchored_at = anchored_at - interval '10 minutes' where tenant_id = $1`,
      [sandbox.sandboxId],
    );
    const later = hoursOf((await lives.state()).clock.sandbox_time);
    expect(later * HOUR_MS - Date.now()).toBeGreaterThan(9.5 * HOUR_MS);
    expect(later * HOUR_MS - Date.now()).toBeLessThan(11 * HOUR_MS);
  });

  test('keeps what it shows when its speed changes, and stands still with 0', async () => {
    await lives.manage({ action: 'advance', hours: 100 });
    const { clock } = await lives.manage({ action: 'set_speed', speed: 0 });
    await service().owner.query(
      `update sandbox_clocks set anchored_at = anchored_at - interval '1 day' where tenant_id = $1`,
      [sandbox.sandboxId],
    );
    expect((await lives.state()).clock.sandbox_time).toBe(clock.sandbox_time);
    expect(hoursOf(clock.sandbox_time) * HOUR_MS - Date.now()).toBeGreaterThan(99 * HOUR_MS);
  });

  test('moves to the next step, one after the other', async () => {
    await lives.manage({ action: 'set_speed', speed: 0 });
    await lives.announce('LIFE-LOST-1');
    const played: number[] = [];
    for (let isPlaying = true; isPlaying;) {
      expect((await lives.manage({ action: 'next_step' })).clock.steps_due).toBe(1);
      await lives.play();
      const life = await lives.lifeOf('LIFE-LOST-1');
      played.push(life.steps_played);
      isPlaying = life.state === 'playing';
    }
    expect(played).toEqual([1, 2, 3, 4, 5, 6]);
    // Without a further step it stands.
    const before = (await lives.state()).clock;
    expect((await lives.manage({ action: 'next_step' })).clock).toEqual(before);
  });

  test('moves once for a request that is repeated with its Idempotency-Key', async () => {
    await lives.manage({ action: 'set_speed', speed: 0 });
    const before = hoursOf((await lives.state()).clock.sandbox_time);
    const headers = { 'idempotency-key': randomUUID() };
    const body = { action: 'advance', hours: 5 };
    const send = () => sandbox.send('manageSandboxLives', { token: sandbox.token, body, headers });
    const replies = await Promise.all([send(), send(), send()]);
    replies.push(await send());
    for (const { status, body: answer } of replies)
      expect([200, 409]).toContain(answer['code'] === 'idempotency_in_progress' ? 409 : status);
    expect(replies.at(-1)?.headers.get('idempotency-replayed')).toBe('true');
    expect(hoursOf((await lives.state()).clock.sandbox_time)).toBeCloseTo(before + 5, 3);
    const other = { ...body, hours: 6 };
    const refused = await sandbox.send('manageSandboxLives', { token: sandbox.token, body: other, headers });
    expect(refused).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } });
  });

  test('is refused hours and speeds out of bounds, and never passes the year 9000', async () => {
    for (const body of [
      { action: 'advance', hours: 0 },
      { action: 'advance', hours: 8761 },
      { action: 'set_speed', speed: 1441 },
      { action: 'set_speed', speed: -1 },
      { action: 'start', life: 'happy' },
    ])
      expect(await manage(body)).toMatchObject({ status: 400, code: 'validation_failed' });
    await lives.manage({ action: 'set_speed', speed: 1440 });
    await service().owner.query(
      `update sandbox_clocks set sandbox_time = '8999-12-31 23:00:00Z' where tenant_id = $1`,
      [sandbox.sandboxId],
    );
    const { clock } = await lives.manage({ action: 'advance', hours: 8760 });
    expect(clock.sandbox_time).toBe('9000-01-01 00:00:00');
  });

  test('steps that are due are played by the job of every minute, in the order of their times', async () => {
    await lives.manage({ action: 'set_speed', speed: 0 });
    await lives.announce('LIFE-LOST-1');
    // No step of one is due at the time of such a step of the other.
    await lives.manage({ action: 'advance', hours: 2 });
    await lives.announce('LIFE-LOST-2');
    await lives.manage({ action: 'advance', hours: 1000 });
    expect((await lives.state()).clock.steps_due).toBe(2);
    await playSandboxes({ db: service().db, stopping: new AbortController().signal });
    expect((await lives.state()).clock.steps_due).toBe(0);
    const { rows } = await service().owner.query<{ action: string; entity_id: string }>(
      `select action, entity_id from audit_entries where tenant_id = $1
         and action in ('package.received', 'manifest.created', 'manifest.packages_added') order by id`,
      [sandbox.sandboxId],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'package.received',
      'package.received',
      'manifest.created',
      'manifest.packages_added',
      'manifest.created',
      'manifest.packages_added',
    ]);
    const [first, second] = [await lives.lifeOf('LIFE-LOST-1'), await lives.lifeOf('LIFE-LOST-2')];
    expect(rows.slice(0, 2).map(({ entity_id }) => entity_id)).toEqual([first.package_id, second.package_id]);
  });
});

describe('magic numbers', () => {
  test('start one life each, and other numbers start none', async () => {
    await lives.announce('LIFE-HAPPY-1');
    await lives.announce('LIFE-UNHAPPY-1');
    await lives.announce('LIFE-CLAIMED-1');
    await lives.announce('1Z999AA10123456784');
    await lives.play();
    await lives.play();
    await lives.manage({ action: 'next_step' });
    const { lives: started } = await lives.state();
    expect(started.map(({ tracking_number }) => tracking_number)).toEqual(['LIFE-HAPPY-1']);
  });

  test('start a life whichever operation stores the pre-alert', async () => {
    const [userCode] = sandbox.userCodes;
    const { token, key, send } = sandbox;
    const record = { user_code: userCode, tracking_number: 'LIFE-HAPPY-RECORD', vendor: 'Shop' };
    const line = { UserCode: userCode, TrackingNumber: 'LIFE-HOLD-LINE' };
    const file = `user_code,tracking_number\n${userCode},LIFE-LOST-ROW\n`;
    const answers = [
      await send('createPrealert', { token, body: record }),
      await send('submitPrealert', {
        key,
        body: `${JSON.stringify(line)}\n`,
        headers: { 'content-type': 'application/x-ndjson' },
      }),
      await send('submitPrealert', { key, body: { ...line, TrackingNumber: 'LIFE-WEIGHT-SINGLE' } }),
      await send('uploadPrealerts', { token, form: { file: { file } } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 201, 200]);
    await lives.play();
    const { lives: started } = await lives.state();
    expect(started.map(({ tracking_number }) => tracking_number).sort()).toEqual([
      'LIFE-HAPPY-RECORD',
      'LIFE-HOLD-LINE',
      'LIFE-LOST-ROW',
      'LIFE-WEIGHT-SINGLE',
    ]);
  });

  test('wait while 20 lives play, and an explicit start is refused then', async () => {
    await lives.manage({ action: 'set_speed', speed: 0 });
    for (let number = 0; number < 21; number += 1) await lives.announce(`LIFE-LOST-${number}`);
    const { lives: started } = await lives.manage({ action: 'advance', hours: 1 });
    expect(started).toHaveLength(20);
    expect(await manage({ action: 'start', life: 'claimed' })).toMatchObject({
      status: 409,
      code: 'too_many_sandbox_lives',
    });
    await lives.manage({ action: 'stop', life_id: started[0]?.life_id });
    const states = (await lives.manage({ action: 'advance', hours: 1 })).lives.map(({ state }) => state);
    expect(states.filter((state) => state === 'playing')).toHaveLength(20);
  });

  test('start 200 lives per day, which the next sandbox counts too', async () => {
    const use = (used: number) =>
      service().owner.query(
        `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
         values ($1, $2, 'sandbox_lives', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', $3)
         on conflict (tenant_id, courier_id, kind, period_start) do update set used = excluded.used`,
        [sandbox.sandboxId, sandbox.courierId, used],
      );
    await use(199);
    expect((await manage({ action: 'start', life: 'claimed' })).status).toBe(200);
    expect(await manage({ action: 'start', life: 'claimed' })).toMatchObject({
      status: 429,
      code: 'quota_exceeded',
    });
    await lives.announce('LIFE-HAPPY-1');
    await lives.play();
    expect((await lives.state()).lives).toHaveLength(1);
    sandbox = await makeSandbox(service());
    expect(await manage({ action: 'start', life: 'claimed' })).toMatchObject({ code: 'quota_exceeded' });
  });
});

test.each(exampleRequests)('the documented request %s works in a sandbox', async (name, body) => {
  await lives.announce('LIFE-HAPPY-DOC1');
  // The documented life is another one.
  expect(await manage(body)).toMatchObject(
    name === 'stop' ? { status: 404, code: 'sandbox_life_not_found' } : { status: 200 },
  );
});
