import type pg from 'pg';
import { startEmbeddedPostgres } from '../../development/embedded-postgres/embedded-server.js';
import { serviceUrl, withClient } from '../../platform/db/connections/roles.js';
import { listPending } from '../../platform/db/migrations/history.js';
import { MIGRATIONS } from '../../platform/db/migrations/migration-files.js';
import { packageVersion } from '../../config/project-root.js';
import { describeDeployment } from '../deployment.js';
import { ANYWHERE, LOCAL, MIGRATED } from './checks.js';
import { messageOf, ok, problem, warning, type Finding } from '../shared-checks/finding.js';
import { hasEmbeddedCluster } from './missing-settings.js';
import { redact, type Report, type ReportLine } from './report.js';
import type { Check, Connected, Subject } from './checks/subject.js';

/** The types of node-postgres lack its time limit of a statement, in milliseconds. */
const FIRST: pg.QueryConfig & { query_timeout: number } = { text: 'select', query_timeout: 10_000 };

const REPEAT = 'Correct the other problems first, and repeat.';

/** Examines an installation. It changes nothing, and examines what it can if settings are invalid or the database is away. */
export async function examine(subject: Subject): Promise<Report> {
  const lines = [...(await runChecks(LOCAL, subject)), ...(await examineDatabase(subject))];
  const deployment = describeDeployment(subject.config);
  return { version: packageVersion(), deployment, lines: redact(lines, subject.config) };
}

async function runChecks<What>(checks: Check<What>[], subject: What): Promise<ReportLine[]> {
  const lines: ReportLine[] = [];
  for (const { name, run } of checks) {
    const found = await runCheck(run, subject);
    lines.push(...found.map((finding) => ({ check: name, ...finding })));
  }
  return lines;
}

async function runCheck<What>(run: Check<What>['run'], subject: What): Promise<Finding[]> {
  try {
    return [await run(subject)].flat();
  } catch (error) {
    return [problem(`This could not be examined: ${messageOf(error)}.`, REPEAT)];
  }
}

const line = (finding: Finding): ReportLine => ({ check: 'database', ...finding });

async function examineDatabase(subject: Subject): Promise<ReportLine[]> {
  const { config, faults } = subject;
  if (config.databaseUrl) return examineUrl(subject, config.databaseUrl);
  if (faults.some((fault) => /^(DATABASE_URL|APP_ENV) /.test(fault)))
    return [line(problem('There is no database to examine.', 'Set DATABASE_URL.'))];
  if (!(await hasEmbeddedCluster(config.dataDir)))
    return [line(warning('The embedded server has no data yet.', 'Run npm start once.'))];
  const server = await startEmbeddedPostgres({ dataDir: config.dataDir, database: 'crossdock', log() {} });
  try {
    return await examineUrl(subject, serviceUrl(server.url, server.servicePassword));
  } finally {
    await server.stop();
  }
}

async function examineUrl(subject: Subject, url: string): Promise<ReportLine[]> {
  const others = await examineOtherUrls(subject);
  try {
    return await withClient(url, async (client) => {
      const reachable = line(ok('The database of DATABASE_URL is reachable.'));
      // A pooler admits clients without its server, and lets each statement wait for minutes.
      await client.query(FIRST);
      return [reachable, ...others, ...(await examineConnected({ ...subject, url, client }))];
    });
  } catch (error) {
    return [line(unreachable('DATABASE_URL', error)), ...others];
  }
}

const unreachable = (setting: string, error: unknown): Finding =>
  problem(
    `${setting}: ${messageOf(error)}.`,
    'Check the setting, the server, its pg_hba.conf and the network.',
  );

async function examineOtherUrls({ config }: Subject): Promise<ReportLine[]> {
  const cells = config.cells.map(({ name, url }): [string, string] => [`DATABASE_CELLS (${name})`, url]);
  const urls: Record<string, string | undefined> = {
    DATABASE_OWNER_URL: config.databaseOwnerUrl,
    DATABASE_DIRECT_URL: config.databaseDirectUrl,
    ...Object.fromEntries<string>(cells),
  };
  const lines: ReportLine[] = [];
  for (const [setting, url] of Object.entries(urls)) {
    if (!url) continue;
    const isThere = withClient(url, () => Promise.resolve(ok(`The database of ${setting} is reachable.`)));
    lines.push(line(await isThere.catch((error: unknown) => unreachable(setting, error))));
  }
  return lines;
}

/** Most checks need the tables of this version. */
async function examineConnected(subject: Connected): Promise<ReportLine[]> {
  const lines = await runChecks(ANYWHERE, subject);
  const pending = await listPending(subject.client, MIGRATIONS).catch(() => ['unknown']);
  return pending.length > 0 ? lines : [...lines, ...(await runChecks(MIGRATED, subject))];
}
