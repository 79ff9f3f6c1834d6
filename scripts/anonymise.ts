import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { readConfig, readOwnerUrl, type Config } from '../src/config/config.js';
import { anonymise } from '../src/development/anonymise/anonymise.js';
import { assertDirect } from '../src/platform/db/connections/pooler.js';
import { withClient } from '../src/platform/db/connections/roles.js';
import { openSecrets } from '../src/platform/access/secrets.js';
import { runScript } from './script.js';
import { commandLine } from '../src/config/commands.js';

// npm run anonymise: turns a copy of production into data that may leave it (docs/staging.md).

const USAGE = `${commandLine('anonymise [--database-url URL] [--host-suffix localhost] [--password ...]')}
  [--copy-of-production --database NAME]`;

await runScript(async (print) => {
  const options = readOptions();
  const config = readConfig();
  assertNotProduction(config);
  const url = options['database-url'] ?? readOwnerUrl();
  await assertDirect('The URL of the owner', url);
  const password = options.password ?? randomBytes(18).toString('base64url');
  const { rows, totpSecret } = await withClient(url, async (client) => {
    await assertCopy(client, options);
    await assertUnused(client);
    return anonymise(client, {
      secrets: openSecrets(config.secrets),
      password,
      passwordHashCost: config.passwordHashCost,
      hostSuffix: options['host-suffix'],
      log: print,
    });
  });
  print(`Replaced the values of ${rows} rows.`);
  if (options.password === undefined) print(`The password of every user, shown this once: ${password}`);
  print(`The authenticator secret of every user with a second factor, shown this once: ${totpSecret}`);
}, USAGE);

function readOptions() {
  const options = parseOptions();
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(options['host-suffix']))
    throw usage('--host-suffix must be a domain in lower case.');
  return options;
}

function parseOptions() {
  try {
    return parseArgs({
      options: {
        'database-url': { type: 'string' },
        'host-suffix': { type: 'string', default: 'localhost' },
        password: { type: 'string' },
        'copy-of-production': { type: 'boolean', default: false },
        database: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw usage(error instanceof Error ? error.message : String(error));
  }
}

function usage(fault: string): Error {
  return new Error(`${fault}\n${USAGE}`);
}

function assertNotProduction({ appEnv }: Config): void {
  if (appEnv === 'production')
    throw new Error(
      'APP_ENV is production. Run this with the settings of the deployment that will use the data: its keys encrypt them.',
    );
}

/** Production and its copy have the same rows, so the operator must say twice that this is a copy. */
async function assertCopy(client: pg.Client, options: ReturnType<typeof readOptions>): Promise<void> {
  const { rows } = await client.query<{ name: string; database: string }>(
    `select name, current_database() as database from installation.deployments where app_env = 'production'`,
  );
  const [production] = rows;
  if (!production) return;
  if (options['copy-of-production'] && options.database === production.database) return;
  throw new Error(
    `The deployment ${production.name} (APP_ENV=production) has used this database. Its data would be lost. If this is a copy, ` +
      `say so twice: --copy-of-production --database ${production.database}`,
  );
}

/** A running service would see half of the changes, and in production there is always one. */
async function assertUnused(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ sessions: number }>(
    // Of other roles' connections an owner sees only these columns. PostgreSQL's own processes have no user.
    `select count(*)::int as sessions from pg_stat_activity
     where datname = current_database() and usename is not null and pid <> pg_backend_pid()`,
  );
  const sessions = rows[0]?.sessions ?? 0;
  if (sessions > 0)
    throw new Error(
      `${sessions} other connections use this database. Stop the service and close them first.`,
    );
}
