import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { checkPassword } from '../../src/modules/tenants/tenant.js';
import { ask, logIn, logInFirst } from '../support/service/client.js';
import { endProcesses, run, until } from '../support/service/processes.js';
import { startService, type Service } from '../support/service/service.js';
import { documentedDatabase } from '../support/staging/documented-database.js';

let service: Service;
let ownerUrl: string;

beforeAll(async () => {
  const database = await documentedDatabase({ demo: true });
  service = await startService({ database });
  ownerUrl = database.urls.DATABASE_OWNER_URL;
}, 60_000);

afterEach(endProcesses);

afterAll(() => service.stop());

const SHOWN_ONCE = 'Password, shown this once: ';
const GATEWAY = ['--slug', 'gateway', '--name', 'Gateway Ltd', '--host', 'Gateway.Example.com'];

async function tenantCreate(
  args: string[],
  url = ownerUrl,
  env: Record<string, string> = {},
): Promise<{ code: number | null; output: string }> {
  // Without a terminal, as in a pipeline, nobody can respond to a prompt.
  const program = run('src/commands/tenant-create.js', { DATABASE_OWNER_URL: url, ...env }, args);
  const { code } = await program.ended;
  return { code, output: program.output() };
}

async function countTenants(): Promise<number> {
  const { rows } = await service.owner.query<{ count: number }>('select count(*)::int from tenants');
  return rows[0]?.count ?? 0;
}

describe('a new tenant', () => {
  let output: string;

  beforeAll(async () => {
    const created = await tenantCreate([
      ...[...GATEWAY, '--host', 'www.gateway.example.com', '--host', 'gateway.example.com'],
      ...['--warehouse', 'Doral', '--admin', 'Boss'],
    ]);
    expect(created).toMatchObject({ code: 0 });
    output = created.output;
  });

  test('has its hosts, one primary warehouse, one administrator and an audit entry', async () => {
    const { rows } = await service.owner.query(
      `select name,
         (select array_agg(host order by host) from tenant_hosts where tenant_id = t.id) as hosts,
         (select jsonb_agg(jsonb_build_array(name, is_primary)) from warehouses where tenant_id = t.id) as warehouses,
         (select jsonb_agg(jsonb_build_array(username, role)) from users where tenant_id = t.id) as users,
         (select array_agg(action) from audit_entries where tenant_id = t.id) as audit
       from tenants t where slug = 'gateway'`,
    );
    expect(rows).toEqual([
      {
        name: 'Gateway Ltd',
        hosts: ['gateway.example.com', 'www.gateway.example.com'],
        warehouses: [['Doral', true]],
        users: [['boss', 'admin']],
        audit: ['tenant.created'],
      },
    ]);
  });

  test('gets a generated password if there is no terminal, which is shown once and must be changed', async () => {
    const [password = '', ...more] = [...output.matchAll(new RegExp(`${SHOWN_ONCE}(\\S+)`, 'g'))].map(
      ([, it]) => it,
    );
    expect(more).toEqual([]);
    expect(output.split(password)).toHaveLength(2);
    expect(password.length).toBeGreaterThanOrEqual(20);

    const host = 'gateway.example.com:8443';
    const early = await ask(service.url, {
      path: '/api/ManagePrealerts.php',
      headers: { host, authorization: `Bearer ${await logIn(service.url, 'boss', password, host)}` },
    });
    expect([early.status, JSON.parse(early.text).code]).toEqual([403, 'password_change_required']);
    const token = await logInFirst(service.url, 'boss', password, host);
    const page = await ask(service.url, {
      path: '/api/ManagePrealerts.php',
      headers: { host: 'www.gateway.example.com', authorization: `Bearer ${token}` },
    });
    expect(page).toMatchObject({ status: 200 });
    expect(JSON.parse(page.text)).toMatchObject({ data: [] });
    await expect(logIn(service.url, 'boss', password, 'elsewhere.example.com')).rejects.toThrow('401');
  });

  test.each([
    [
      'slug',
      ['--slug', 'gateway', '--name', 'X', '--host', 'other.example.com'],
      'The slug gateway is taken.',
    ],
    [
      'host',
      ['--slug', 'other', '--name', 'X', '--host', 'free.example.com', '--host', 'gateway.example.com'],
      // PostgreSQL does not tell the owner which of them, because row-level security hides other tenants' hosts.
      'The host free.example.com or gateway.example.com belongs to another tenant.',
    ],
  ])('a taken %s gives one error line and creates nothing', async (_what, args, line) => {
    const before = await countTenants();
    expect(await tenantCreate(args)).toEqual({ code: 1, output: `${line}\n` });
    expect(await countTenants()).toBe(before);
    const { rowCount } = await service.owner.query(
      "select from tenant_hosts where host in ('other.example.com', 'free.example.com')",
    );
    expect(rowCount).toBe(0);
  });
});

test.each(['localhost', 'miami.localhost', '127.0.0.1', '0.0.0.0'])(
  'the host %s, which leads each client to itself, is refused in staging and production',
  async (host) => {
    const before = await countTenants();
    const created = await tenantCreate(['--slug', 'own', '--name', 'Own', '--host', host], ownerUrl, {
      APP_ENV: 'production',
    });
    expect(created).toEqual({
      code: 1,
      output: expect.stringMatching(/^--host \S+ is each client's own machine\. Name the host [^\n]+\n$/),
    });
    expect(await countTenants()).toBe(before);
  },
);

test('the password is hashed with the configured cost', async () => {
  const args = ['--slug', 'cost', '--name', 'Cost', '--host', 'cost.example.com'];
  const refused = await tenantCreate(args, ownerUrl, { PASSWORD_HASH_COST: '3' });
  expect(refused).toEqual({ code: 1, output: expect.stringMatching(/^PASSWORD_HASH_COST must be >= 4\n$/) });
  expect(await tenantCreate(args, ownerUrl, { PASSWORD_HASH_COST: '5' })).toMatchObject({ code: 0 });
  const { rows } = await service.owner.query(
    `select substr(u.password_hash, 1, 7) as start, u.must_change_password as must
     from users u join tenants t on t.id = u.tenant_id where t.slug = 'cost'`,
  );
  expect(rows).toEqual([{ start: '$2b$05$', must: true }]);
});

test('the first password works for 7 days, as the command says, and reset-admin gives a new one', async () => {
  const host = 'expiry.example.com';
  const created = await tenantCreate(['--slug', 'expiry', '--name', 'Expiry', '--host', host]);
  const [, password = ''] = new RegExp(`${SHOWN_ONCE}(\\S+)`).exec(created.output) ?? [];
  expect(created.output).toMatch(/^It must be changed at the first login within 7 days: /m);
  expect(created.output).toContain(
    'npm run admin:reset -- --tenant expiry --username admin gives a new one.',
  );
  const ofTenant = "tenant_id = (select id from tenants where slug = 'expiry')";
  const { rows } = await service.owner.query<{ days: number }>(
    `select extract(epoch from password_expires_at - created_at)::float / 86400 as days from users where ${ofTenant}`,
  );
  expect(rows[0]?.days).toBeCloseTo(7, 3);
  await logIn(service.url, 'admin', password, host);

  await service.owner.query(`update users set password_expires_at = now() where ${ofTenant}`);
  await expect(logIn(service.url, 'admin', password, host)).rejects.toThrow('401');
  const reset = run('src/commands/reset-admin.js', { DATABASE_OWNER_URL: ownerUrl }, ['--tenant', 'expiry']);
  expect(await reset.ended).toMatchObject({ code: 0 });
  const [, next = ''] =
    new RegExp(`${SHOWN_ONCE.replace('Password', 'Password of admin')}(\\S+)`).exec(reset.output()) ?? [];
  await logIn(service.url, 'admin', next, host);
}, 30_000);

test.each([
  ['nothing', [], '--slug, --name and --host are required.'],
  ['no host', ['--slug', 'a', '--name', 'A'], '--slug, --name and --host are required.'],
  ['a slug with capitals', ['--slug', 'A', '--name', 'A', '--host', 'a'], '--slug must be'],
  ['a host with a port', ['--slug', 'a', '--name', 'A', '--host', 'a.example.com:443'], '--host must be'],
  ['a URL', ['--slug', 'a', '--name', 'A', '--host', 'https://a.example.com'], '--host must be'],
  ['a blank administrator', [...GATEWAY, '--admin', ' '], '--admin must not be blank.'],
  ['an unknown option', [...GATEWAY, '--colour', 'red'], "Unknown option '--colour'"],
])('%s: prints the error and the usage', async (_what, args, fault) => {
  const before = await countTenants();
  const { code, output } = await tenantCreate(args);
  expect(code).toBe(1);
  expect(output.slice(0, fault.length)).toBe(fault);
  expect(output).toContain('\nUsage: npm run tenant:create -- --slug');
  expect(await countTenants()).toBe(before);
});

test('without DATABASE_OWNER_URL the error asks for it, and a failed connection gives one error line', async () => {
  const unset = run('src/commands/tenant-create.js', {}, GATEWAY);
  expect(await unset.ended).toMatchObject({ code: 1 });
  expect(unset.output()).toMatch(/^Set DATABASE_OWNER_URL [^\n]+\n$/);
  const wrong = await tenantCreate(GATEWAY, 'postgres://nobody-here:sesame@127.0.0.1:1/x');
  expect(wrong).toEqual({
    code: 1,
    output: expect.stringMatching(/^Cannot connect to the database: [^\n]+\n$/),
  });
  expect(wrong.output).not.toContain('sesame');
});

test('an owner who is not a superuser can migrate and create tenants', async () => {
  const [owner, database] = [
    `crossdock_test_owner_${process.pid}`,
    `${new URL(ownerUrl).pathname.slice(1)}_owned`,
  ];
  await service.owner.query(`create role ${owner} login nosuperuser createrole password 'owner-password'`);
  // Another database's owner created the roles, so its administrator grants them.
  await service.owner.query(`grant crossdock_app, crossdock_lookup to ${owner} with admin option`);
  await service.owner.query(`create database "${database}" owner ${owner}`);
  const url = Object.assign(new URL(ownerUrl), { username: owner, password: 'owner-password' });
  url.pathname = `/${database}`;
  try {
    const migrating = run('src/commands/migrate.js', { DATABASE_OWNER_URL: url.href });
    expect(await migrating.ended).toMatchObject({ code: 0 });
    expect(await tenantCreate(GATEWAY, url.href)).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^Created tenant gateway /),
    });
  } finally {
    await service.owner.query(`drop database "${database}" with (force)`);
    await service.owner.query(`drop owned by ${owner}`);
    await service.owner.query(`drop role ${owner}`);
  }
}, 30_000);

describe('a password chosen by a person', () => {
  test.each([
    ['11 characters', 'eleven char', 'The password must have at least 12 characters.'],
    ['12 characters', 'twelve chars', true],
    [
      'the published password',
      'crossdock-demo',
      'The password must not be a common password, also not with digits or signs around it.',
    ],
    ['74 bytes', `${'é'.repeat(36)}ab`, 'The password must have at most 72 bytes in UTF-8.'],
    [
      'the administrator’s name',
      'gatekeeper-of-miami',
      'The password must not be your user name or your full name.',
    ],
  ])('is validated: %s', async (_what, password, expected) => {
    expect(await checkPassword(password, ['Gatekeeper-of-Miami'])).toBe(expected);
  });

  // `script` of util-linux gives the program a terminal.
  const hasTerminals = spawnSync('script', ['--version']).status === 0;
  (hasTerminals ? test : test.skip)(
    'is prompted for at a terminal until it is valid, and is never shown',
    async () => {
      const program = join(projectRoot, 'dist', 'src', 'commands', 'tenant-create.js');
      const command = [
        process.execPath,
        program,
        '--slug',
        'asked',
        '--name',
        'Asked',
        '--host',
        'asked.example.com',
      ];
      const terminal = spawn('script', ['-qec', command.map((word) => `'${word}'`).join(' '), '/dev/null'], {
        env: {
          PATH: process.env['PATH'],
          TERM: 'xterm',
          APP_ENV: 'development',
          DATABASE_OWNER_URL: ownerUrl,
        },
      });
      let shown = '';
      terminal.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
      const ended = once(terminal, 'close');

      await until(async () => shown.includes('Password of the administrator'));
      terminal.stdin.write('too short\r');
      await until(async () => shown.includes('must have at least 12 characters.'));
      // Ctrl-U clears the line.
      terminal.stdin.write('\u0015chosen-at-a-terminal\r');
      expect(await ended).toEqual([0, null]);
      expect(shown).toContain('Created tenant asked');
      for (const hidden of ['too short', 'chosen', SHOWN_ONCE]) expect(shown).not.toContain(hidden);
      await logIn(service.url, 'admin', 'chosen-at-a-terminal', 'asked.example.com');
    },
  );
});
