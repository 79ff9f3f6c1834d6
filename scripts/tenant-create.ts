import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import askPassword from '@inquirer/password';
import { isHashable } from '../src/auth/passwords.js';
import { readOwnerUrl } from '../src/config.js';
import { withClient } from '../src/db/roles.js';
import { createTenant } from '../src/tenants/tenant.js';
import { runScript } from './script.js';

const USAGE = `npm run tenant:create -- --slug miami --name "Miami Gateway Ltd" --host gateway.example.com [--host ...]
  [--warehouse "Miami Gateway"] [--admin admin] [--generate-password]`;

const MIN_PASSWORD_LENGTH = 12;

await runScript(async (print) => {
  const options = readOptions();
  const { password, isGenerated } = await choosePassword(options.generatePassword);
  const { tenantId } = await withClient(readOwnerUrl(), (client) =>
    createTenant(client, {
      slug: options.slug,
      name: options.name,
      hosts: options.hosts,
      warehouse: options.warehouse,
      admin: { username: options.admin, fullName: 'Administrator', password },
    }),
  );
  print(`Created tenant ${options.slug} (${tenantId}) with administrator ${options.admin}.`);
  if (isGenerated) print(`Password, shown this once: ${password}`);
});

function readOptions() {
  const { values } = parseArgs({
    options: {
      slug: { type: 'string' },
      name: { type: 'string' },
      host: { type: 'string', multiple: true },
      warehouse: { type: 'string' },
      admin: { type: 'string', default: 'admin' },
      'generate-password': { type: 'boolean', default: false },
    },
  });
  const { slug, name, host: hosts = [] } = values;
  if (!slug || !name || hosts.length === 0)
    throw new Error(`--slug, --name and --host are required.\n${USAGE}`);
  if (!/^[a-z0-9-]{1,50}$/.test(slug))
    throw new Error('--slug must be lower-case letters, digits and hyphens.');
  return {
    slug,
    name,
    hosts: hosts.map((host) => host.toLowerCase()),
    warehouse: values.warehouse ?? name,
    admin: values.admin,
    generatePassword: values['generate-password'],
  };
}

/** Asks where somebody can answer, and makes one up where nobody can. */
async function choosePassword(generate: boolean): Promise<{ password: string; isGenerated: boolean }> {
  if (generate || !process.stdin.isTTY)
    return { password: randomBytes(18).toString('base64url'), isGenerated: true };
  const password = await askPassword({
    message: 'Password of the administrator',
    mask: '*',
    validate: judgePassword,
  });
  return { password, isGenerated: false };
}

function judgePassword(password: string): true | string {
  if (password.length < MIN_PASSWORD_LENGTH) return `Use ${MIN_PASSWORD_LENGTH} characters or more.`;
  return isHashable(password) || 'Use at most 72 bytes.';
}
