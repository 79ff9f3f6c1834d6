import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { identityOfProcess } from '../../src/config/command-settings.js';
import { readConfig, type Config } from '../../src/config/config.js';
import { DEMO } from '../../fixtures/demo/demo.js';
import { startEmbeddedPostgres } from '../../src/development/embedded-postgres/embedded-server.js';
import { loadTraffic, type LoadTools } from '../../tools/load/load.js';
import { MAX_TENANTS, type LoadOptions } from '../../tools/load/tenant-plan.js';
import { appendAllToChains } from '../../src/modules/audit-log/append-to-chain.js';
import { checkPassword } from '../../src/modules/tenants/tenant.js';
import { openSecrets } from '../../src/platform/access/secrets.js';
import { assertDirect } from '../../src/platform/db/connections/pooler.js';
import { APP_ROLE, withClient } from '../../src/platform/db/connections/roles.js';
import { analyzeNonEmptyTables } from '../../src/platform/db/migrations/analyze.js';
import { listPending } from '../../src/platform/db/migrations/history.js';
import { migrate } from '../../src/platform/db/migrations/migrate.js';
import { MIGRATIONS } from '../../src/platform/db/migrations/migration-files.js';
import { openDb } from '../../src/platform/db/open-database.js';
import { describeDeployment, recordDeployment } from '../../src/startup/deployment.js';
import { findRefusal } from '../../src/startup/database-owner.js';
import { runScript } from '../../src/commands/run/script.js';
import { commandLine } from '../../src/config/commands.js';

// npm run demo:load: fills a database with tenants and months of traffic (docs/staging.md).

const USAGE = `${commandLine('demo-load [--tenants 3] [--days 90] [--parcels-per-day 400] [--seed 1] [--end 2026-11-30]')}
  [--host-suffix localhost] [--password ...]`;

const DAY_MS = 86_400_000;

await runScript(async (print) => {
  const { password, hostSuffix, load } = readOptions();
  const config = readConfig();
  if (config.appEnv === 'production')
    throw new Error('APP_ENV is production. Made-up data do not belong there.');
  const database = await openDatabase(config);
  try {
    const { slugs, shown } = await loadInto(database.url, config, { load, password, hostSuffix, print });
    if (slugs.length === 0) {
      print(
        'Nothing was added. To load other data, use an empty database: tenants are told apart by their names.',
      );
      return;
    }
    print(
      `Added ${slugs.join(', ')}. Users: admin, manager, warehouse, evening, and one per courier by its code.`,
    );
    if (password === undefined) print(`The password of every user: ${shown}`);
  } finally {
    await database.stop();
  }
}, USAGE);

type Wanted = {
  load: LoadOptions;
  password: string | undefined;
  hostSuffix: string;
  print: (line: string) => void;
};

async function loadInto(url: string, config: Config, { load, password, hostSuffix, print }: Wanted) {
  const generated = config.appEnv === 'development' ? DEMO.password : randomBytes(18).toString('base64url');
  const shown = password ?? generated;
  const problem = config.appEnv === 'development' || (await checkPassword(shown));
  if (problem !== true) throw new Error(problem);
  const secrets = openSecrets(config.secrets);
  const db = openDb({ url, size: 2, assumeRole: APP_ROLE, onError: () => {} });
  const tools: LoadTools = {
    ...{ secrets, db, hostSuffix, password: shown },
    passwordHashCost: config.passwordHashCost,
    log: print,
  };
  try {
    const slugs = await withClient(url, async (client) => {
      const pending = await listPending(client, MIGRATIONS);
      if (pending.length > 0)
        throw new Error(`The database lacks ${pending.join(', ')}. Run ${commandLine('migrate')}.`);
      await claim(client, config);
      const added = await loadTraffic(client, load, tools);
      await analyzeNonEmptyTables(client);
      return added;
    });
    if (slugs.length > 0) print('Appending the audit entries to their hash chains ...');
    await appendAllToChains({ db, secrets, stopping: new AbortController().signal });
    return { slugs, shown };
  } finally {
    await db.close();
  }
}

/**
 * Records that the database is for development, so that `npm start` serves it.
 *
 * @throws Error if another deployment uses it, or if it may contain real data
 */
async function claim(client: pg.ClientBase, config: Config): Promise<void> {
  const { embeddedPostgres: isOwn } = config;
  const refusal = await findRefusal(client, identityOfProcess(config), {
    refusesUnknownTenants: true,
    isOwn,
  });
  if (refusal) throw new Error(refusal);
  if (config.appEnv === 'development') await recordDeployment(client, describeDeployment(config));
}

/** The database of the settings, or the embedded one. */
async function openDatabase(config: Config): Promise<{ url: string; stop(): Promise<void> }> {
  const { databaseOwnerUrl, databaseUrl, dataDir } = config;
  const url = databaseOwnerUrl ?? databaseUrl;
  if (url) {
    await assertDirect('The URL of the owner', url);
    return { url, stop: () => Promise.resolve() };
  }
  const embedded = await startEmbeddedPostgres({ dataDir, database: 'crossdock', log: () => undefined });
  await migrate(embedded.url, MIGRATIONS, { log: () => undefined });
  return embedded;
}

function readOptions() {
  const values = parseOptions();
  const end = values.end ?? new Date().toISOString().slice(0, 10);
  const endMs = Date.parse(`${end}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(end) || Number.isNaN(endMs)) throw usage('--end must be a date.');
  if (endMs > Date.now()) throw usage('--end must not be in the future.');
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(values['host-suffix']))
    throw usage('--host-suffix must be a domain in lower case.');
  const load: LoadOptions = {
    tenants: whole('tenants', values.tenants, MAX_TENANTS),
    days: whole('days', values.days, 3_650),
    parcelsPerDay: whole('parcels-per-day', values['parcels-per-day'], 100_000),
    seed: whole('seed', values.seed, 1_000_000),
    // The data end with the day before, so that no row is in the future.
    endMs: values.end === undefined ? endMs : Math.min(endMs + DAY_MS, startOfToday()),
  };
  return { load, hostSuffix: values['host-suffix'], password: values.password };
}

function startOfToday(): number {
  return Math.floor(Date.now() / DAY_MS) * DAY_MS;
}

function parseOptions() {
  return parseArgs({
    options: {
      tenants: { type: 'string', default: '3' },
      days: { type: 'string', default: '90' },
      'parcels-per-day': { type: 'string', default: '400' },
      seed: { type: 'string', default: '1' },
      end: { type: 'string' },
      'host-suffix': { type: 'string', default: 'localhost' },
      password: { type: 'string' },
    },
  }).values;
}

function whole(name: string, text: string, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > most) throw usage(`--${name} must be from 1 to ${most}.`);
  return value;
}

function usage(fault: string): Error {
  return new Error(`${fault}\nUsage: ${USAGE}`);
}
