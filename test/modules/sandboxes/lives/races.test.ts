import { beforeEach, expect, test } from '@jest/globals';
import { playSandbox } from '../../../../src/modules/sandboxes/lives/play.js';
import { livesOf, type Lives } from './lives-calls.js';
import { makeSandbox, type OpenedSandbox } from '../../../support/fixture/sandboxes.js';
import { withService } from '../../../support/fixture/with-service.js';

const { service } = withService();
let sandbox: OpenedSandbox;
let lives: Lives;

beforeEach(async () => {
  sandbox = await makeSandbox(service());
  lives = livesOf(service(), sandbox);
  await lives.manage({ action: 'set_speed', speed: 0 });
}, 60_000);

const count = async (table: string) => {
  const { rows } = await service().owner.query(
    `select count(*)::int as total from ${table} where tenant_id = $1`,
    [sandbox.sandboxId],
  );
  return rows[0]?.total as number;
};

test('five workers at the same time play each step once, in order', async () => {
  for (const number of [1, 2, 3]) await lives.announce(`LIFE-HAPPY-${number}`, sandbox.userCodes[number - 1]);
  await lives.manage({ action: 'advance', hours: 1 });
  await lives.manage({ action: 'advance', hours: 800 });
  await Promise.all(Array.from({ length: 5 }, () => lives.play()));
  const { lives: played } = await lives.state();
  expect(played.map(({ state, steps_played, refusal }) => [state, steps_played, refusal])).toEqual(
    Array.from({ length: 3 }, () => ['finished', 9, null]),
  );
  expect(await Promise.all(['packages', 'manifests', 'bills'].map(count))).toEqual([3, 3, 1]);
  const { rows } = await service().owner.query(
    `select action, count(*)::int as total from audit_entries
     where tenant_id = $1 and action in ('package.received', 'manifest.created', 'bill.published') group by 1 order by 1`,
    [sandbox.sandboxId],
  );
  expect(rows).toEqual([
    { action: 'bill.published', total: 1 },
    { action: 'manifest.created', total: 3 },
    { action: 'package.received', total: 3 },
  ]);
});

test('50 concurrent advances all count, and a pre-alert starts one life', async () => {
  await lives.announce('LIFE-HAPPY-1');
  const before = (await lives.state()).clock.sandbox_time;
  const body = { action: 'advance', hours: 1 };
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => sandbox.send('manageSandboxLives', { token: sandbox.token, body })),
  );
  const advanced = answers.filter(({ status }) => status === 200).length;
  expect(answers.filter(({ status }) => ![200, 503].includes(status)).map(({ body }) => body)).toEqual([]);
  expect(advanced).toBeGreaterThan(10);
  const at = (time: string) => new Date(`${time.replace(' ', 'T')}Z`).getTime();
  const after = (await lives.state()).clock.sandbox_time;
  expect((at(after) - at(before)) / 3_600_000).toBe(advanced);
  await Promise.all([lives.play(), lives.play()]);
  expect((await lives.state()).lives).toHaveLength(1);
  expect(await count('packages')).toBe(1);
});

test('a worker that stops in the middle leaves the rest to the next one', async () => {
  await lives.announce('LIFE-HAPPY-1');
  await lives.manage({ action: 'advance', hours: 1 });
  await lives.manage({ action: 'advance', hours: 800 });
  const stopping = new AbortController();
  const running = playSandbox(
    { db: service().db, stopping: stopping.signal },
    { tenantId: sandbox.sandboxId },
  );
  for (let played = 0; played < 2; played = (await lives.lifeOf('LIFE-HAPPY-1')).steps_played);
  stopping.abort();
  await running;
  const { steps_played: half } = await lives.lifeOf('LIFE-HAPPY-1');
  expect(half).toBeLessThan(9);
  await lives.play();
  expect(await lives.lifeOf('LIFE-HAPPY-1')).toMatchObject({ state: 'finished', steps_played: 9 });
  expect(await count('packages')).toBe(1);
});

test('a step whose transaction is lost is played again, once', async () => {
  await lives.announce('LIFE-HAPPY-1');
  await lives.manage({ action: 'advance', hours: 1 });
  await lives.manage({ action: 'advance', hours: 1 });
  // The server ends the connection after the operation and before the commit, where the step is recorded.
  await service().owner.query(
    `create function lose_step() returns trigger language plpgsql as
       'begin perform pg_terminate_backend(pg_backend_pid()); return new; end';
     create trigger lose_step before update on sandbox_lives for each row when (new.steps_played > old.steps_played)
       execute function lose_step()`,
  );
  try {
    await expect(lives.play()).rejects.toThrow(/terminat/);
  } finally {
    await service().owner.query('drop function lose_step cascade');
  }
  expect(await count('packages')).toBe(0);
  await lives.play();
  expect((await lives.lifeOf('LIFE-HAPPY-1')).steps_played).toBe(1);
  expect(await count('packages')).toBe(1);
});
