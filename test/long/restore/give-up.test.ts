import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { migrate } from '../../../src/platform/db/migrations/migrate.js';
import { onDebian } from '../../support/restores/on-debian.js';
import { blockOf } from '../../support/restores/restore-page.js';
import {
  expectFailed,
  expectOk,
  kill,
  putAside,
  recoverBlock,
  urlOf,
  work,
  type Cluster,
} from '../../support/restores/restored-cluster.js';
import { endProcesses, startReplica } from '../../support/service/processes.js';

// A recovered server on which people have worked is not given up without a question.

const EVERYTHING = '';

const onServer = onDebian();

afterEach(endProcesses);

/** Creates the database of the service. Returns the settings of a process. */
async function createDatabase(cluster: Cluster) {
  execFileSync('psql', [
    ...['-X', '-q', urlOf(cluster), '-v', 'owner_password=owner', '-v', 'login_password=login'],
    ...['-f', join(projectRoot, 'deploy/postgres/roles.sql')],
  ]);
  const urlFor = (role: string) => `postgres://crossdock_${role}:${role}@127.0.0.1:${cluster.port}/crossdock`;
  await migrate(urlFor('owner'), MIGRATIONS);
  return { DATABASE_URL: urlFor('login'), DATABASE_OWNER_URL: urlFor('owner') };
}

onServer(
  'a recovered server on which the service has started is given up only if the command names its timeline',
  async (cluster, terminal) => {
    const urls = await createDatabase(cluster);
    const serve = async () => {
      const replica = await startReplica({ APP_ENV: 'development', RUN_WORKER: 'false', ...urls });
      await replica.stop();
    };
    await serve();
    expectOk(terminal, blockOf('base-backup'));
    await work(cluster, 1, 10);
    await kill(cluster);
    putAside(terminal);

    // The service has used it only before it was lost.
    expectOk(terminal, recoverBlock(EVERYTHING));
    expectOk(terminal, blockOf('start'));
    expectOk(terminal, blockOf('give-up'));

    expectOk(terminal, recoverBlock(EVERYTHING));
    expectOk(terminal, blockOf('start'));
    await serve();
    const naming = (timeline: string) =>
      blockOf('give-up').replace('\nsh ', `\nGIVE_UP_WORK_OF=${timeline} sh `);
    for (const block of [blockOf('give-up'), naming('00000002')])
      expectFailed(
        terminal,
        block,
        /^FAILED: The service has started on this server since it was recovered: the database crossdock was used at least until \d{4}-.* All work since the recovery would be lost\. .* GIVE_UP_WORK_OF=00000003 before sh/m,
      );
    const mark = join(cluster.folder, 'backup', 'archive', '00000003.given-up');
    expect([existsSync(cluster.data), existsSync(mark)]).toEqual([true, false]);
    expectOk(terminal, blockOf('start'));
    expectOk(terminal, naming('00000003'));
    expect([existsSync(cluster.data), existsSync(mark)]).toEqual([false, true]);
  },
);
