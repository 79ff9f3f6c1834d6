import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import askPassword from '@inquirer/password';
import { readIdentity } from '../config/command-settings.js';
import { readOtherOwnerCells, readOwnerUrl, readPasswordHashCost } from '../config/config.js';
import { assertDirect } from '../platform/db/connections/pooler.js';
import { ONE_TIME_PASSWORD_DAYS } from '../modules/auth/public.js';
import { assertUnusedIn, checkPassword, createTenant } from '../modules/tenants/tenant.js';
import { assertOwnDatabase, claimDatabase } from '../startup/database-owner.js';
import { withOwner } from './run/owner.js';
import { runScript } from './run/script.js';
import { commandLine } from '../config/commands.js';

const USAGE = `${commandLine('tenant-create --slug miami --name')} "Miami Gateway Ltd" --host gateway.example.com [--host ...]
  [--warehouse "Miami Gateway"] [--admin admin] [--generate-password]`;

await runScript(async (print) => {
  const options = readOptions();
  const identity = readIdentity();
  if (identity.appEnv !== 'development') assertReachableHosts(options.hosts);
  const ownerUrl = readOwnerUrl();
  await assertOwnDatabase(ownerUrl, identity);
  for (const { name, url } of readOtherOwnerCells()) {
    const setting = `DATABASE_OWNER_CELLS (${name})`;
    await assertDirect(setting, url);
    await assertOwnDatabase(url, { ...identity, name: undefined });
    await withOwner((client) => assertUnusedIn({ name, client }, options), { url, setting });
  }
  const { password, isGenerated } = await choosePassword(options);
  const { tenantId } = await withOwner(async (client) => {
    await claimDatabase(client, identity);
    return createTenant(
      client,
      {
        slug: options.slug,
        name: options.name,
        hosts: options.hosts,
        warehouse: options.warehouse,
        admin: { username: options.admin, fullName: 'Administrator', password },
      },
      { passwordHashCost: readPasswordHashCost() },
    );
  });
  print(`Created tenant ${options.slug} (${tenantId}) with administrator ${options.admin}.`);
  if (isGenerated) print(`Password, shown this once: ${password}`);
  print(
    `It must be changed at the first login within ${ONE_TIME_PASSWORD_DAYS} days: in the console at /console, or with ChangePassword.php. After that, ${commandLine(`reset-admin --tenant ${options.slug} --username ${options.admin}`)} gives a new one.`,
  );
}, USAGE);

function readOptions() {
  const { slug, name, host = [], ...rest } = parseOptions();
  const hosts = host.map((each) => each.toLowerCase());
  if (!slug || !name || hosts.length === 0) throw usage('--slug, --name and --host are required.');
  if (!/^[a-z0-9-]{1,50}$/.test(slug)) throw usage('--slug must be lower-case letters, digits and hyphens.');
  if (!hosts.every((each) => /^(\*|[a-z0-9.-]{1,253})$/.test(each)))
    throw usage('--host must be a host name without scheme, port or path, or * for any.');
  if (!rest.admin.trim()) throw usage('--admin must not be blank.');
  return {
    slug,
    name,
    hosts,
    warehouse: rest.warehouse ?? name,
    admin: rest.admin,
    generatePassword: rest['generate-password'],
  };
}

/** @throws Error when a host is the machine of each client itself */
function assertReachableHosts(hosts: string[]): void {
  const own = hosts.find((host) => /^(localhost|.*\.localhost|127\.[\d.]+|0\.0\.0\.0)$/.test(host));
  if (own)
    throw new Error(
      `--host ${own} is each client's own machine. Name the host that clients use, for example gateway.example.com.`,
    );
}

function parseOptions() {
  return parseArgs({
    options: {
      slug: { type: 'string' },
      name: { type: 'string' },
      host: { type: 'string', multiple: true },
      warehouse: { type: 'string' },
      admin: { type: 'string', default: 'admin' },
      'generate-password': { type: 'boolean', default: false },
    },
  }).values;
}

function usage(fault: string): Error {
  return new Error(`${fault}\nUsage: ${USAGE}`);
}

/** Prompts for a password if there is a terminal, and otherwise generates one. */
async function choosePassword({
  admin,
  generatePassword,
}: {
  admin: string;
  generatePassword: boolean;
}): Promise<{ password: string; isGenerated: boolean }> {
  if (generatePassword || !process.stdin.isTTY)
    return { password: randomBytes(18).toString('base64url'), isGenerated: true };
  const password = await askPassword({
    message: 'Password of the administrator',
    mask: '*',
    validate: (typed) => checkPassword(typed, [admin]),
  });
  return { password, isGenerated: false };
}
