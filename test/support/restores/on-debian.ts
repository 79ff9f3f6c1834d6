import { jestOfFile } from '../fixture/jest-of-file.js';
import { titleWith } from '../harness/programs.js';
import { DEBIAN } from '../rehearsal/debian-server.js';
import { removeFolders } from '../service/processes.js';
import { openTerminal, type Terminal } from './restore-page.js';
import { createCluster, sql, stopClusters, type Cluster } from './restored-cluster.js';

const LIMIT_MS = 300_000;

/**
 * Returns the declaration of a test that follows docs/restore.md on a real server, with a table `parcels`. Without Debian's programs the
 * test is skipped, and its title says why. Servers and folders are removed after the tests.
 */
export function onDebian(): (
  title: string,
  body: (cluster: Cluster, terminal: Terminal) => Promise<void>,
) => void {
  const { afterAll, afterEach, test } = jestOfFile();
  afterEach(stopClusters, LIMIT_MS);
  afterAll(removeFolders);
  const declare = DEBIAN ? test : test.skip;
  return (title, body) =>
    declare(
      titleWith(title, [DEBIAN ? undefined : 'a PostgreSQL server of Debian']),
      async () => {
        const cluster = await createCluster(false);
        const terminal = openTerminal(cluster.names, cluster.env);
        terminal.paste('start_postgres');
        sql(cluster, 'create table parcels (n int primary key, at timestamptz not null)');
        await body(cluster, terminal);
      },
      LIMIT_MS,
    );
}
