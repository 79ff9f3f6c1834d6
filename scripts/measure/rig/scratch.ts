import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import type { Config } from '../../../src/config/config.js';
import { startEmbeddedPostgres } from '../../../src/development/embedded-postgres/embedded-server.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { projectRoot } from '../../../src/config/project-root.js';

/** `url` connects as the owner. */
export type ScratchServer = { url: string; stop(): Promise<void> };

const FOLDER = join(projectRoot, '.data', 'bench-smoke');

/** Creates a temporary database that stop() removes: on the operator's server, or on a new one. */
export function openScratchServer({ databaseOwnerUrl }: Config): Promise<ScratchServer> {
  return databaseOwnerUrl ? createDatabase(databaseOwnerUrl) : startScratchServer();
}

async function createDatabase(adminUrl: string): Promise<ScratchServer> {
  const name = `crossdock_bench_smoke_${process.pid}`;
  const run = (statement: string) => withClient(adminUrl, (client) => client.query(statement));
  await run(`create database ${pg.escapeIdentifier(name)}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async stop() {
      await run(`drop database ${pg.escapeIdentifier(name)} with (force)`);
    },
  };
}

/** The folder is named after the process, so that two runs do not share a server. */
async function startScratchServer(): Promise<ScratchServer> {
  await removeServersOfDeadRuns();
  return start(String(process.pid));
}

async function start(name: string): Promise<ScratchServer> {
  const folder = join(FOLDER, name);
  const server = await startEmbeddedPostgres({
    dataDir: folder,
    database: 'crossdock_bench',
    log: () => undefined,
    // The data do not need to survive the run.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  });
  return {
    url: server.url,
    async stop() {
      await server.stop();
      // The cluster of root may be in another folder (decision 0003).
      for (const each of [dirname(server.dataDir), folder]) await rm(each, { recursive: true, force: true });
    },
  };
}

async function removeServersOfDeadRuns(): Promise<void> {
  const names = existsSync(FOLDER) ? readdirSync(FOLDER) : [];
  for (const name of names.filter((each) => !isAlive(Number(each)))) {
    // The server may still run, so it is started again to be stopped.
    await (await start(name)).stop();
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
