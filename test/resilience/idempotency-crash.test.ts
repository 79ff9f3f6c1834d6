import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type pg from 'pg';
import { DEMO } from '../../fixtures/demo/seed.js';
import { ask, codeOf } from '../support/service/client.js';
import { rounds } from '../support/harness/effort.js';
import { endProcesses, startReplica, until } from '../support/service/processes.js';
import { startService, type Call, type Reply, type Service } from '../support/service/service.js';

// A request that is interrupted at any point and repeated until it gets a response is executed exactly once.

const LIMIT_MS = 60_000;
let service: Service;
let url: string;
let holder: pg.PoolClient;

beforeAll(async () => {
  service = await startService();
  url = String((service.owner.options as pg.PoolConfig).connectionString);
  holder = await service.owner.connect();
});

afterEach(async () => {
  await releaseLocks();
  await endProcesses();
});

afterAll(async () => {
  holder.release();
  await service.stop();
});

/** Takes a lock in the holder's session, so that requests wait at a known point. */
const lockWith = (statement: string) => holder.query(`begin; ${statement}`);
const releaseLocks = () => holder.query('rollback; select pg_advisory_unlock_all()');

/** Returns the database processes that wait for the holder's lock. */
async function waitingPids(): Promise<number[]> {
  const { rows } = await service.owner.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'crossdock'
     and wait_event_type = 'Lock'`,
  );
  return rows.map(({ pid }) => pid);
}

const untilWaiting = () => until(async () => (await waitingPids()).length > 0);

/** A request that could be executed twice if it had no idempotency key. */
type Work = {
  operation: 'createManifest' | 'submitPrealert' | 'uploadCustomers';
  call: Call;
  count: () => Promise<number>;
};

const countBy = (statement: string, mark: string) => async (): Promise<number> => {
  const { rows } = await service.owner.query<{ n: number }>(statement, [mark]);
  return rows[0]?.n ?? 0;
};

const AUDITED = 'select count(*)::int as n from audit_entries where remarks = $1';

/** Each operation accesses the database differently. */
const WORKS: Record<Work['operation'], (mark: string) => Work> = {
  createManifest: (mark) => ({
    operation: 'createManifest',
    call: { as: 'admin', body: { remarks: mark } },
    count: countBy(AUDITED, mark),
  }),
  submitPrealert: (mark) => ({
    operation: 'submitPrealert',
    call: { key: DEMO.apiKeys.IEX, body: { UserCode: 'IEX-1001', TrackingNumber: mark } },
    count: countBy('select count(*)::int as n from prealerts where tracking_number = $1', mark),
  }),
  uploadCustomers: (mark) => ({
    operation: 'uploadCustomers',
    call: { as: 'iex', form: { file: { file: `user_code,first_name,last_name\n${mark},F,L\n` } } },
    count: countBy('select count(*)::int as n from customers where user_code = $1', mark),
  }),
};

const send = ({ operation, call }: Work, key: string): Promise<Reply> =>
  service.call(operation, { ...call, headers: { 'idempotency-key': key } });

/**
 * Repeats the request as an integrator does, while the outcome is unknown or the first request is in
 * progress.
 */
async function untilAnswered(work: Work, key: string): Promise<Reply> {
  for (;;) {
    const reply = await send(work, key);
    if (reply.status < 500 && reply.body['code'] !== 'idempotency_in_progress') return reply;
  }
}

async function expectOnce(work: Work, reply: Reply): Promise<void> {
  expect([reply.status < 300, await work.count()]).toEqual([true, 1]);
}

const isReplay = ({ headers }: Reply) => headers.get('idempotency-replayed') === 'true';

const LOCK_BEFORE_COMMIT = 'lock table idempotency_keys in share row exclusive mode';

const BREAKS = rounds(3, 7);

describe('a connection that breaks before the commit', () => {
  test.each(Object.entries(WORKS))(
    `%s: ${BREAKS} times the response is 503 and nothing is stored, and a repeated request is executed once`,
    async (_name, makeWork) => {
      for (let round = 0; round < BREAKS; round += 1) {
        const work = makeWork(`BREAK-${randomUUID().slice(0, 8)}`);
        const key = randomUUID();
        await lockWith(LOCK_BEFORE_COMMIT);
        const first = send(work, key);
        await untilWaiting();
        for (const pid of await waitingPids())
          await service.owner.query('select pg_terminate_backend($1)', [pid]);
        expect((await first).status).toBe(503);
        expect(await work.count()).toBe(0);
        await releaseLocks();
        const again = await untilAnswered(work, key);
        expect(isReplay(again)).toBe(false);
        await expectOnce(work, again);
        expect(isReplay(await send(work, key))).toBe(true);
        expect(await work.count()).toBe(1);
      }
    },
    LIMIT_MS,
  );
});

// The commit waits in this trigger, and then succeeds although the client has disconnected.
const SLOW_COMMIT = `
  create function wait_to_commit() returns trigger language plpgsql as
    'begin perform pg_advisory_xact_lock_shared(4712); return null; end';
  create constraint trigger wait_to_commit after insert on idempotency_keys deferrable initially deferred
    for each row execute function wait_to_commit()`;

const CRASHES = [
  {
    when: 'before the key lookup',
    statement: 'lock table idempotency_keys in access exclusive mode',
    isCommitted: false,
  },
  {
    when: 'during its statements',
    statement: 'lock table manifests in share row exclusive mode',
    isCommitted: false,
  },
  { when: 'before the commit', statement: LOCK_BEFORE_COMMIT, isCommitted: false },
  { when: 'between commit and response', statement: 'select pg_advisory_lock(4712)', isCommitted: true },
];

describe('a process that is killed', () => {
  beforeAll(async () => {
    await service.owner.query(SLOW_COMMIT);
  });

  test.each(CRASHES)(
    '$when: the request is executed once, and another process responds to the repeated request',
    async ({ when, statement, isCommitted }) => {
      const replica = await startReplica({ DATABASE_URL: url, DATABASE_OWNER_URL: url, POOL_SIZE: '4' });
      const work = WORKS.createManifest(`KILLED ${when}`);
      const key = randomUUID();
      await lockWith(statement);
      const first = ask(replica.url, {
        method: 'POST',
        path: '/api/CreateManifest.php',
        headers: { authorization: `Bearer ${await service.tokenOf('admin')}`, 'idempotency-key': key },
        body: work.call.body,
      }).catch(codeOf);
      await untilWaiting();
      await replica.stop('SIGKILL');
      // Without a response, the outcome is the socket's error code.
      expect(await first).not.toHaveProperty('status');
      await releaseLocks();
      const again = await untilAnswered(work, key);
      expect([isReplay(again), again.status]).toEqual([isCommitted, 200]);
      await expectOnce(work, again);
    },
    LIMIT_MS,
  );
});
