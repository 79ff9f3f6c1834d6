import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import type { QueueLine } from '../../../src/platform/queue/log.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';
import { until } from '../../support/service/processes.js';
import { startQueue } from '../../support/workers/start-queue.js';

const LIMIT_MS = 120_000;

let database: TestDatabase;
let owner: pg.Pool;

beforeAll(async () => {
  database = await freshDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
}, LIMIT_MS);

afterAll(async () => {
  await owner.end();
  await database.drop();
}, LIMIT_MS);

test(
  'a worker whose first fetch has failed runs jobs as soon as the cause is gone, and its log says both once',
  async () => {
    const lines: QueueLine[] = [];
    const done: string[] = [];
    // The library registers its tasks before it fetches the first job.
    await owner.query('revoke insert on graphile_worker._private_tasks from crossdock_app');
    const worker = startQueue(
      database.ownerUrl,
      { sendManifestMail: async ({ mailId }) => void done.push(mailId) },
      { log: (line) => void lines.push(line) },
    );
    const errors = () => lines.filter(({ level }) => level === 'error').map(({ text }) => text);
    await until(() => Promise.resolve(errors().length > 0));
    expect(errors()).toEqual([
      expect.stringMatching(/^Error occurred fetching jobs.*permission denied for table _private_tasks/),
    ]);
    await owner.query('grant insert on graphile_worker._private_tasks to crossdock_app');
    await owner.query(
      `select graphile_worker.add_job('sendManifestMail', json_build_object('tenantId', '1', 'mailId', 'one'))`,
    );
    await until(() => Promise.resolve(done.length > 0));
    expect(done).toEqual(['one']);
    await until(() => Promise.resolve(lines.some(({ text }) => text.startsWith('The queue works again'))));
    expect(errors()).toHaveLength(1);
    expect(await worker.end()).toBe(true);
  },
  LIMIT_MS,
);
