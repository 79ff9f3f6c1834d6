import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { readConfig } from '../../src/config/config.js';
import type { EmbeddedServer } from '../../src/development/embedded-postgres/embedded-server.js';
import { projectRoot } from '../../src/config/project-root.js';
import { removeGuard } from './database.js';
import { isSourceMutant, type Mutant } from './mutant.js';

/** One PostgreSQL server for the whole run. Its template databases are created once. */
export type Server = {
  url: string;
  /** Copies the templates, without the guard of a database mutant. */
  copyTemplates(mutant?: Mutant): Promise<Templates>;
  stop(): Promise<void>;
};

/** The template databases that test files clone. */
export type Templates = {
  /** The prefix of the names of the templates and their clones. */
  prefix: string;
  /** Drops clones that a run left behind. */
  dropClones(): Promise<void>;
  drop(): Promise<void>;
};

const NAMES = ['empty', 'demo'];

export async function startServer(): Promise<Server> {
  const { startOwnServer, removeServer, makeTemplates, dropDatabases } = await loadSetUp();
  const server = await startOwnServer();
  const first = newPrefix();
  await makeTemplates(server.url, first, readConfig({ APP_ENV: 'development' }));
  return {
    url: server.url,
    async copyTemplates(mutant) {
      const prefix = newPrefix();
      for (const name of NAMES) await copy(server.url, first + name, prefix + name, mutant);
      const isOurs = (name: string) => name.startsWith(prefix);
      const isClone = (name: string) => isOurs(name) && !NAMES.includes(name.slice(prefix.length));
      return {
        prefix,
        dropClones: () => dropDatabases(server.url, isClone),
        drop: () => dropDatabases(server.url, isOurs),
      };
    },
    stop: () => removeServer(server),
  };
}

/** A server with the folder that its removal deletes. */
type TestServer = EmbeddedServer & { folder: string };

type SetUp = {
  startOwnServer(): Promise<TestServer>;
  removeServer(server: TestServer): Promise<void>;
  makeTemplates(adminUrl: string, prefix: string, config: unknown): Promise<void>;
  dropDatabases(adminUrl: string, isDoomed: (name: string) => boolean): Promise<void>;
};

async function loadSetUp(): Promise<SetUp> {
  const file = join(projectRoot, 'test', 'support', 'service', 'global-setup.mjs');
  // The file is plain JavaScript without types.
  return (await import(pathToFileURL(file).href)) as SetUp;
}

const newPrefix = () => `crossdock_test_m${randomBytes(4).toString('hex')}_`;

async function copy(url: string, from: string, to: string, mutant?: Mutant): Promise<void> {
  await withClient(url, 'postgres', (client) => client.query(`create database "${to}" template "${from}"`));
  if (mutant && !isSourceMutant(mutant)) await withClient(url, to, (client) => removeGuard(client, mutant));
}

async function withClient(url: string, database: string, work: (client: pg.Client) => Promise<unknown>) {
  const address = new URL(url);
  address.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: address.href });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
