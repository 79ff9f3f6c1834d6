import { afterEach, expect, test } from '@jest/globals';
import { demoDatabase } from '../../support/service/database.js';
import { endProcesses, run, until } from '../../support/service/processes.js';

const LIMIT_MS = 60_000;

afterEach(endProcesses, LIMIT_MS);

const WARNING = 'There are no credentials for Amazon SES, so mail waits.';

test.each<[string, Record<string, string>, boolean]>([
  ['no key and no role warns once', {}, true],
  ['a key does not warn', { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'secret' }, false],
])(
  'a worker with Amazon SES and %s at its start',
  async (_what, key, warns) => {
    const database = await demoDatabase();
    const worker = run('src/worker.js', {
      DATABASE_URL: database.ownerUrl,
      LOG_LEVEL: 'warn',
      SES_REGION: 'us-east-1',
      MAIL_FROM: 'notices@example.com',
      // The machine of the test has no role.
      AWS_EC2_METADATA_DISABLED: 'true',
      ...key,
    });
    await until(async () => worker.output().includes(warns ? WARNING : 'The Crossdock worker is running.'));
    worker.child.kill('SIGTERM');
    await worker.ended;
    expect(worker.output().split(WARNING)).toHaveLength(warns ? 2 : 1);
    await database.drop();
  },
  LIMIT_MS,
);
