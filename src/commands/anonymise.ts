import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { readKeyedSettings, type Identity } from '../config/command-settings.js';
import { readOwner } from '../config/config.js';
import { anonymise } from '../../tools/anonymise/anonymise.js';
import { assertDirect } from '../platform/db/connections/pooler.js';
import { readRows } from '../platform/db/connections/rows.js';
import { assertUnused } from '../platform/db/connections/unused.js';
import { openSecrets } from '../platform/access/secrets.js';
import { findRefusal } from '../startup/database-owner.js';
import { withOwner } from './run/owner.js';
import { runScript } from './run/script.js';
import { commandLine } from '../config/commands.js';

// npm run anonymise: turns a copy of production into data that may leave it (docs/staging.md).

const USAGE = `${commandLine('anonymise [--database-url URL] [--host-suffix localhost] [--password ...]')}
  [--copy-of-production|--copy-of-staging --database NAME]`;

await runScript(async (print) => {
  const options = readOptions();
  const config = readKeyedSettings();
  assertNotProduction(config.identity);
  const given = options['database-url'];
  const owner = given === undefined ? readOwner() : { url: given, setting: '--database-url' };
  await assertDirect('The URL of the owner', owner.url);
  const password = options.password ?? randomBytes(18).toString('base64url');
  const { rows, totpSecret } = await withOwner(async (client) => {
    await assertCopy(client, config.identity, options);
    await assertUnused(client);
    return anonymise(client, {
      secrets: openSecrets(config.secrets),
      password,
      passwordHashCost: config.passwordHashCost,
      hostSuffix: options['host-suffix'],
      log: print,
    });
  }, owner);
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
  return parseArgs({
    options: {
      'database-url': { type: 'string' },
      'host-suffix': { type: 'string', default: 'localhost' },
      password: { type: 'string' },
      'copy-of-production': { type: 'boolean', default: false },
      'copy-of-staging': { type: 'boolean', default: false },
      database: { type: 'string' },
    },
  }).values;
}

function usage(fault: string): Error {
  return new Error(`${fault}\nUsage: ${USAGE}`);
}

function assertNotProduction({ appEnv }: Identity): void {
  if (appEnv === 'production')
    throw new Error(
      'APP_ENV is production. Run this with the settings of the deployment that will use the data: its keys encrypt them.',
    );
}

/** A deployment and its copy have the same rows, so the operator must say twice that this is a copy. */
async function assertCopy(
  client: pg.Client,
  identity: Identity,
  options: ReturnType<typeof readOptions>,
): Promise<void> {
  const [other] = await readRows<{ name: string; appEnv: string; database: string }>(
    client,
    `select name, app_env as "appEnv", current_database() as database from installation.deployments
     where app_env not in ('development', $1) order by app_env`,
    [identity.appEnv],
  );
  if (!other) return assertOwn(client, identity);
  const flag = other.appEnv === 'staging' ? 'copy-of-staging' : 'copy-of-production';
  if (options[flag] && options.database === other.database) return;
  throw new Error(
    `The deployment ${other.name} (APP_ENV=${other.appEnv}) has used this database. Its data would be lost. If this is a copy, ` +
      `say so twice: --${flag} --database ${other.database}`,
  );
}

/** The keys need not be those of the database: everything is encrypted again. @throws Error when another deployment uses it */
async function assertOwn(client: pg.Client, identity: Identity): Promise<void> {
  const refusal = await findRefusal(client, { ...identity, keys: {} });
  if (refusal) throw new Error(refusal);
}
