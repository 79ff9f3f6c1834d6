import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type pg from 'pg';
import { DEMO } from '../../src/development/demo/seed.js';
import { ask, codeOf } from '../support/service/client.js';
import { endProcesses, startReplica, until } from '../support/service/processes.js';
import { startService, type Call, type Reply, type Service } from '../support/service/service.js';

// Whatever ends a request in the middle: sent again until it is answered, it has been done once.

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
  await letGo();
  await endProcesses();
});

afterAll(async () => {
  holder.release();
  await service.stop();
});

/** Everything that a request with a key writes waits, at the place that a statement of the holder's makes it. */
const holdUp = (statement: string) => holder.query(`begin; ${statement}`);
const letGo = () => holder.query('rollback; select pg_advisory_unlock_all()');

/** The processes of the database that wait for a lock of the holder's. */
async function waiting(): Promise<number[]> {
  const { rows } = await service.owner.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'crossdock'
     and wait_event_type = 'Lock'`,
  );
  return rows.map(({ pid }) => pid);
}

const untilHeldUp = () => until(async () => (await waiting()).length > 0);

/** A request that makes something which nothing but its key keeps from being made twice. */
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

/** Each talks to the database in a way of its own. */
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

/** As an integrator does: again while nothing is known or the first is at work. */
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

const BEFORE_THE_COMMIT = 'lock table idempotency_keys in share row exclusive mode';

describe('a connection that breaks before the commit', () => {
  test.each(Object.entries(WORKS))(
    '%s: seven times told 503, nothing stored, and done once when it is sent again',
    async (_name, makeWork) => {
      for (let round = 0; round < 7; round += 1) {
        const work = makeWork(`BREAK-${randomUUID().slice(0, 8)}`);
        const key = randomUUID();
        await holdUp(BEFORE_THE_COMMIT);
        const first = send(work, key);
        await untilHeldUp();
        for (const pid of await waiting())
          await service.owner.query('select pg_terminate_backend($1)', [pid]);
        expect((await first).status).toBe(503);
        expect(await work.count()).toBe(0);
        await letGo();
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

// the commit waits in this trigger, and then succeeds though nobody is there to be told
const SLOW_COMMIT = `
  create function wait_to_commit() returns trigger language plpgsql as
    'begin perform pg_advisory_xact_lock_shared(4712); return null; end';
  create constraint trigger wait_to_commit after insert on idempotency_keys deferrable initially deferred
    for each row execute function wait_to_commit()`;

const DEATHS = [
  {
    when: 'before the key is looked up',
    statement: 'lock table idempotency_keys in access exclusive mode',
    isDone: false,
  },
  {
    when: 'among its statements',
    statement: 'lock table manifests in share row exclusive mode',
    isDone: false,
  },
  { when: 'after its statements, before the commit', statement: BEFORE_THE_COMMIT, isDone: false },
  { when: 'after the commit, before the answer', statement: 'select pg_advisory_lock(4712)', isDone: true },
];

describe('a process that is killed', () => {
  beforeAll(async () => {
    await service.owner.query(SLOW_COMMIT);
  });

  test.each(DEATHS)(
    '$when: the request is done once, and another process answers for it',
    async ({ when, statement, isDone }) => {
      const replica = await startReplica({ DATABASE_URL: url, DATABASE_OWNER_URL: url, POOL_SIZE: '4' });
      const work = WORKS.createManifest(`KILLED ${when}`);
      const key = randomUUID();
      await holdUp(statement);
      const first = ask(replica.url, {
        method: 'POST',
        path: '/api/CreateManifest.php',
        headers: { authorization: `Bearer ${await service.tokenOf('admin')}`, 'idempotency-key': key },
        body: work.call.body,
      }).catch(codeOf);
      await untilHeldUp();
      await replica.stop('SIGKILL');
      // no answer came: what the socket said
      expect(await first).not.toHaveProperty('status');
      await letGo();
      const again = await untilAnswered(work, key);
      expect([isReplay(again), again.status]).toEqual([isDone, 200]);
      await expectOnce(work, again);
    },
    LIMIT_MS,
  );
});
