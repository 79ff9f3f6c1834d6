import pg from 'pg';
import { isPooled, poolerProblems } from '../../../platform/db/connections/pooler.js';
import { readValue } from '../../../platform/db/connections/rows.js';
import { withClient } from '../../../platform/db/connections/roles.js';
import { messageOf, ok, orOk, problem, type Finding } from '../../shared-checks/finding.js';
import type { Connected } from './subject.js';

const REMEDY = 'See "Connection poolers" in docs/operations.md.';
const TIMEOUT_MS = 3_000;
const ROUNDS = 5;

/** Examines by their behaviour which connections lead to a pooler, and in which mode it is. */
export async function checkPooler({ config, url }: Connected): Promise<Finding | Finding[]> {
  if (config.embeddedPostgres) return ok('The embedded server has no pooler.');
  const urls = {
    url,
    ownerUrl: config.databaseOwnerUrl,
    directUrl: config.databaseDirectUrl,
    pooler: config.databasePooler,
    runsJobs: config.worker.inProcess,
  };
  try {
    const problems = await poolerProblems(urls);
    return orOk(
      problems.map((message) => problem(`${message}.`, REMEDY)),
      await describe(url),
    );
  } catch (error) {
    // A pooler in statement mode refuses transactions.
    return problem(`A connection cannot run a transaction: ${messageOf(error)}.`, REMEDY);
  }
}

const describe = async (url: string): Promise<string> => {
  if (!(await withClient(url, isPooled))) return 'DATABASE_URL leads to PostgreSQL itself.';
  const mode = (await sharesSessions(url)) ? 'transaction' : 'session';
  return `DATABASE_URL leads to a pooler in ${mode} mode.`;
};

/** Whether a second client gets the session of a first one that is idle. In session mode it never does. */
async function sharesSessions(url: string): Promise<boolean> {
  const first = open(url);
  const second = open(url);
  try {
    await first.connect();
    await second.connect();
    for (let round = 0; round < ROUNDS; round += 1)
      if ((await backendOf(first)) === (await backendOf(second))) return true;
    return false;
  } catch {
    // In session mode, a pooler with one connection lets the second client wait.
    return false;
  } finally {
    await Promise.allSettled([first.end(), second.end()]);
  }
}

function open(url: string): pg.Client {
  const limits = { connectionTimeoutMillis: TIMEOUT_MS, query_timeout: TIMEOUT_MS };
  const client = new pg.Client({ connectionString: url, ...limits });
  client.on('error', () => undefined);
  return client;
}

const backendOf = (client: pg.Client): Promise<number> => readValue(client, 'select pg_backend_pid()');
