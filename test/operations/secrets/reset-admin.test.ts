import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { logIn, logInFirst } from '../../support/service/client.js';
import { endProcesses, run } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterEach(endProcesses);

afterAll(() => service.stop());

const HOST = DEMO.hosts.two;

async function resetAdmin(args: string[]): Promise<{ code: number | null; output: string }> {
  const DATABASE_OWNER_URL = String(service.owner.options.connectionString);
  const program = run('src/commands/reset-admin.js', { DATABASE_OWNER_URL }, args);
  const { code } = await program.ended;
  return { code, output: program.output() };
}

async function credentials() {
  const { rows } = await service.owner.query<{ password_hash: string; token_version: number }>(
    `select password_hash, token_version, two_factor_enabled, totp_secret,
       (select count(*)::int from backup_codes b where b.user_id = u.id) as codes,
       (select count(*)::int from login_throttles t where t.tenant_id = u.tenant_id) as throttles,
       (select array_agg(action order by action) from audit_entries a where a.entity_id = u.id) as audit
     from users u where username = 'admin' and tenant_id = $1`,
    [DEMO.tenants.two],
  );
  return rows[0];
}

test('an administrator who lost the password and the second factor logs in with the printed password and changes it', async () => {
  const before = await credentials();
  await service.owner.query(
    `update users set two_factor_enabled = true, totp_secret = 'lost' where username = 'admin' and tenant_id = $1`,
    [DEMO.tenants.two],
  );
  await service.owner.query(
    `insert into login_throttles (tenant_id, kind, subject, failures, locked_until)
     values ($1, 'password', 'admin', 5, now() + interval '15 minutes')`,
    [DEMO.tenants.two],
  );
  const { code, output } = await resetAdmin(['--tenant', 'two', '--username', 'Admin']);
  expect({ code, output }).toEqual({
    code: 0,
    output: expect.stringMatching(
      /^Password of admin, shown this once: \S{19}\nIt must be changed [^\n]+\n$/,
    ),
  });
  const after = await credentials();
  expect(after).toMatchObject({
    two_factor_enabled: false,
    totp_secret: null,
    codes: 0,
    throttles: 0,
    token_version: Number(before?.token_version) + 1,
  });
  await expect(logIn(service.url, 'admin', DEMO.password, HOST)).rejects.toThrow('401');
  const password = /once: (\S+)/.exec(output)?.[1] ?? '';
  expect(await logInFirst(service.url, 'admin', password, HOST)).toMatch(/^ey/);
  const { rows } = await service.owner.query(
    "select actor_kind from audit_entries where tenant_id = $1 and action = 'user.password_reset'",
    [DEMO.tenants.two],
  );
  expect(rows).toEqual([{ actor_kind: 'system' }]);
}, 90_000);

test.each([
  ['no tenant', [], /^Usage: npm run admin:reset -- --tenant miami/],
  ['an unknown tenant', ['--tenant', 'none'], /^There is no tenant with the slug none in this database\.\n$/],
  [
    'a user who is no administrator',
    ['--tenant', 'two', '--username', 'two'],
    /^The tenant two has no active administrator two\. Its active administrators: admin\.\n$/,
  ],
])('%s gives one error line and changes nothing', async (_what, args, line) => {
  const before = await credentials();
  expect(await resetAdmin(args)).toEqual({ code: 1, output: expect.stringMatching(line) });
  expect(await credentials()).toEqual(before);
});
