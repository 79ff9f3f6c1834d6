import { spawnSync } from 'node:child_process';
import { matching } from '../../support/assertions/matching.js';
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { ask, logIn } from '../../support/service/client.js';
import type { DocumentedDatabase } from '../../support/staging/documented-database.js';
import { removeFolders } from '../../support/service/processes.js';
import { BLOCKS, openInstallation, type Installation } from '../../support/staging/leaked-secrets.js';

// docs/leaked-secrets.md: its commands run as they are written, against a real service and its folder of secrets.

const LIMIT_MS = 120_000;
const missing = ['curl', 'psql', 'openssl'].map((name) => (findProgram(name) ? undefined : name));
const declare = (title: string, run: () => Promise<void>) =>
  (missing.some(Boolean) ? test.skip : test)(titleWith(title, missing), run, LIMIT_MS);

let installation: Installation;
let database: DocumentedDatabase;
let secrets: string;
/** The blocks that a test has run. */
const ran = new Set<string>();

/** Opens the installation of a group of tests: each replaces another secret of it, as an operator does after a large leak. */
async function open(): Promise<void> {
  installation = await openInstallation();
  ({ database, secrets } = installation);
}

afterAll(removeFolders);

const restart = (meanwhile?: () => unknown) => installation.restart(meanwhile);
const base = () => installation.replica().url;

/** Runs blocks of the page. Returns their output. Throws if one fails. */
function runBlocks(names: string[], given: Record<string, string> = {}): string {
  for (const name of names) ran.add(name);
  const { status, output } = installation.paste(names, given);
  if (status !== 0) throw new Error(`${names.join()}: ${output}`);
  return output;
}

const secretOf = (name: string) => readFileSync(join(secrets, name), 'utf8').trim();
const sessions = async (token: string) =>
  (await ask(base(), { path: '/api/Sessions.php', headers: { authorization: `Bearer ${token}` } })).status;

/** The encrypted secrets that sign the webhooks of the courier. */
const webhookSecrets = () =>
  withClient(database.ownerUrl, async (client) => {
    const { rows } = await client.query<{ cipher: string | null }>(
      'select unnest(array[webhook_secret_cipher, webhook_previous_secret_cipher]) as cipher from couriers where id = $1',
      [DEMO.couriers.IEX],
    );
    return rows.flatMap(({ cipher }) => cipher ?? []);
  });

/** Signs a token of a session again with another key. */
function forge(token: string, kid: string, key: string): string {
  const [, claims = ''] = token.split('.');
  const head = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT', kid })).toString('base64url');
  const mac = createHmac('sha256', key).update(`${head}.${claims}`).digest('base64url');
  return `${head}.${claims}.${mac}`;
}

describe('docs/leaked-secrets.md', () => {
  beforeAll(open, LIMIT_MS);
  afterAll(() => installation.close(), LIMIT_MS);

  declare('token key: a removed key is refused at once', async () => {
    runBlocks(['token-key']);
    await restart();
    expect(runBlocks(['token-key-proof'])).toMatch(/^OK: the leaked token key is refused$/m);
  });

  declare('token key, one of several: forged tokens get 401, sessions of the other key stay', async () => {
    const [leaked, kept] = ['leaked-'.repeat(6), 'kept-'.repeat(8)];
    writeFileSync(
      join(secrets, 'TOKEN_KEYS'),
      `k2:${kept},k1:${leaked},k3:${'leaked-key-0123456'.repeat(3)}\n`,
    );
    await restart();
    const token = await logIn(base());
    expect(await sessions(forge(token, 'k1', leaked))).toBe(200);
    runBlocks(['token-key-one-of-several']);
    expect(secretOf('TOKEN_KEYS')).toBe(`k2:${kept},k3:${'leaked-key-0123456'.repeat(3)}`);
    await restart();
    expect(await sessions(forge(token, 'k1', leaked))).toBe(401);
    // Neither does the name of a key that is left help.
    expect(await sessions(forge(token, 'k2', leaked))).toBe(401);
    expect(await sessions(token)).toBe(200);
  });

  declare('encryption key: everything is encrypted again, and the old key is not needed', async () => {
    const before = secretOf('ENCRYPTION_KEYS');
    runBlocks(['encryption-key']);
    await restart();
    runBlocks(['encryption-key-rewrap']);
    await restart();
    expect(runBlocks(['encryption-key-proof'])).toContain('all can be decrypted');
    expect(secretOf('ENCRYPTION_KEYS')).toMatch(/^2:[0-9a-f]{64}$/);
    expect(secretOf('ENCRYPTION_KEYS')).not.toContain(before.split(':')[1]);
    installation.openTerminal();
    expect(installation.paste(['encryption-key-rewrap']).output).toMatch(
      /^FAILED: nothing was changed, because this block was completed before: the old keys left the setting, /m,
    );
  });

  declare('lookup key: API keys stay valid, backup codes end, and the audit chain goes on', async () => {
    const codes = () =>
      withClient(
        database.ownerUrl,
        async (client) => (await client.query('select from backup_codes')).rowCount,
      );
    expect(await codes()).toBeGreaterThan(0);
    // Reading the log appends its entries to the chain.
    const admin = { authorization: `Bearer ${await logIn(base())}` };
    await ask(base(), { path: '/api/AuditLog.php', headers: admin });
    let output = '';
    await restart(() => (output = runBlocks(['lookup-key'])));
    expect(output).toMatch(
      /^Closed the audit chain of tenant \S+ after link \d+, with the hash [0-9a-f]{64}\.$/m,
    );
    // As after a restore, entries of before the restore point have no link yet.
    const age = (interval: string) =>
      withClient(database.ownerUrl, (client) =>
        client.query(`update audit_unsealed set at = at - interval '${interval}'`),
      );
    const body = { action: 'create', name: 'audited', scopes: ['packages:read'] };
    await ask(base(), { method: 'POST', path: '/api/ServiceTokens.php', headers: admin, body });
    await age('1 hour');
    expect(installation.paste(['lookup-key-proof']).output).toMatch(
      /waiting for its link[^]*^FAILED: the chains are not complete yet: .* Wait a minute, and paste this proof again/m,
    );
    await age('-1 hour');
    expect(runBlocks(['lookup-key-proof'])).toContain(
      'Older entries were chained with a key that was replaced.',
    );
    const verified = await ask(base(), {
      method: 'POST',
      path: '/api/AuditLog.php',
      headers: admin,
      body: { action: 'verify' },
    });
    expect(JSON.parse(verified.text)).toMatchObject({ data: { intact: true, next_after: null } });
    expect(existsSync(join(secrets, 'replaced-lookup-key'))).toBe(false);
    expect(await codes()).toBe(0);
    const again = spawnSync(join(projectRoot, 'bin', 'crossdock'), ['rehash'], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], APP_ENV: 'development', SECRETS_DIR: secrets },
    });
    expect(again.stdout).toBe(
      'API keys that now have the hash of this LOOKUP_KEY: 0.\nService tokens that now have the hash of this LOOKUP_KEY: 0.\n',
    );
    const { rows } = await withClient(database.ownerUrl, (client) =>
      client.query<{ action: string }>(
        "select distinct action from audit_entries where action like 'tenant.%' order by 1",
      ),
    );
    expect(rows.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['tenant.api_keys_rehashed', 'tenant.backup_codes_dropped']),
    );
  });

  declare('API key of a courier: the old key stops at once', async () => {
    const submit = () =>
      ask(base(), {
        method: 'POST',
        path: '/api/Prealert.php',
        headers: { 'x-api-key': DEMO.apiKeys.IEX },
        body: {},
      });
    expect((await submit()).status).toBe(400);
    runBlocks(['api-key', 'api-key-proof']);
    expect((await submit()).status).toBe(403);
  });

  declare('service token: both of its secrets stop at once, and other tokens stay', async () => {
    const manage = async (as: string, body: object) => {
      const { text } = await ask(base(), {
        method: 'POST',
        path: '/api/ServiceTokens.php',
        headers: { authorization: `Bearer ${await logIn(base(), as)}` },
        body: { ...body, current_password: DEMO.password },
      });
      return (JSON.parse(text) as { data: { token: string; service_token: { token_id: string } } }).data;
    };
    const scopes = ['packages:read'];
    const create = (as: string, name: string) => manage(as, { action: 'create', name, scopes });
    const events = async (token: string) =>
      (await ask(base(), { path: '/api/Events.php', headers: { authorization: `Bearer ${token}` } })).status;
    const [leaked, kept, staff] = [
      await create('iex', 'leaked'),
      await create('iex', 'kept'),
      await create('admin', 'of the staff'),
    ];
    const rotated = await manage('iex', { action: 'rotate', token_id: leaked.service_token.token_id });
    expect([await events(leaked.token), await events(rotated.token)]).toEqual([200, 200]);
    expect(installation.paste(['service-token-proof']).output).toMatch(/^FAILED: the leaked service token/m);
    expect(installation.paste(['service-token-proof'], { LEAKED_SERVICE_TOKEN: kept.token }).status).toBe(1);
    // The text that has leaked is the secret from before the rotation, as somebody has copied it.
    runBlocks(['service-token', 'service-token-proof'], {
      LEAKED_SERVICE_TOKEN: `Authorization: Bearer ${leaked.token} `,
    });
    expect([await events(leaked.token), await events(rotated.token)]).toEqual([401, 401]);
    expect([await events(kept.token), await events(staff.token)]).toEqual([200, 400]);
    // Also after an interruption: nothing is left to do, and the proof needs nothing of the block.
    installation.openTerminal();
    for (const each of [leaked.token, rotated.token])
      expect(installation.paste(['service-token'], { LEAKED_SERVICE_TOKEN: each })).toEqual({
        status: 0,
        output: 'OK: the leaked service token has ended already: service_token_revoked\n',
      });
    expect(
      installation.paste(['service-token-proof'], { LEAKED_SERVICE_TOKEN: rotated.token }).output,
    ).toMatch(/^OK: .* refused: service_token_revoked$/m);
    // A rotation without an overlap has ended the leaked secret, and the system has the new one.
    const { token_id } = kept.service_token;
    const next = await manage('iex', { action: 'rotate', token_id, overlap_hours: 0 });
    expect(runBlocks(['service-token', 'service-token-proof'], { LEAKED_SERVICE_TOKEN: kept.token })).toBe(
      'OK: the leaked service token has ended already: service_token_replaced\nOK: the leaked service token is refused: service_token_replaced\n',
    );
    expect(await events(next.token)).toBe(200);
    // After a second rotation the service does not know the text any more, also when its token is revoked.
    const newest = await manage('iex', { action: 'rotate', token_id, overlap_hours: 0 });
    const unknown =
      /^OK: the leaked service token has ended already: service_token_invalid, so \S+ has no such secret: .*\nOK: the leaked service token is refused: service_token_invalid, /;
    const twice = { LEAKED_SERVICE_TOKEN: kept.token };
    expect(runBlocks(['service-token', 'service-token-proof'], twice)).toMatch(unknown);
    expect(await events(newest.token)).toBe(200);
    await manage('iex', { action: 'revoke', token_id });
    expect(runBlocks(['service-token', 'service-token-proof'], twice)).toMatch(unknown);
    // One that was not copied completely is not unknown for that reason.
    const damaged = kept.token.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    for (const each of [damaged, kept.token.slice(0, -1)])
      expect(installation.paste(['service-token-proof'], { LEAKED_SERVICE_TOKEN: each }).status).toBe(1);
    // A text that the service does not know, and no text.
    for (const each of [`cdk_${'0'.repeat(92)}`, ''])
      expect(installation.paste(['service-token'], { LEAKED_SERVICE_TOKEN: each }).output).toMatch(
        /^FAILED: the service token may still be active\. LEAKED_SERVICE_TOKEN must have/m,
      );
    runBlocks(['service-token', 'service-token-proof'], {
      LEAKED_SERVICE_TOKEN: staff.token,
      COURIER_ID: '',
    });
    expect(await events(staff.token)).toBe(401);
  });

  declare(
    'webhook secret: after a rotation and the end of the old secret, only the new one signs',
    async () => {
      // Without a secret there is nothing to leak.
      runBlocks(['webhook-secret']);
      const before = await webhookSecrets();
      runBlocks(['webhook-secret']);
      expect(await webhookSecrets()).toHaveLength(2);
      expect(() => runBlocks(['webhook-secret-proof'])).toThrow('webhook-secret-proof');
      runBlocks(['webhook-secret-end', 'webhook-secret-proof']);
      const after = await webhookSecrets();
      expect(before).toHaveLength(1);
      expect(after).toHaveLength(1);
      expect(after).not.toEqual(before);
    },
  );

  declare('database login: a file that cannot be written is a failure, whichever of them it is', async () => {
    writeFileSync(join(secrets, 'DATABASE_DIRECT_URL'), readFileSync(join(secrets, 'DATABASE_URL')));
    mkdirSync(join(secrets, 'DATABASE_DIRECT_URL.new'));
    const { status, output } = installation.paste(['database-login']);
    expect([status, output]).toEqual([1, expect.stringMatching(/^FAILED: repeat the block/m)]);
    expect(readdirSync(secrets)).not.toContain('userlist.txt');
    rmdirSync(join(secrets, 'DATABASE_DIRECT_URL.new'));
    expect(installation.paste(['database-login']).output).toMatch(/^OK: /m);
    rmSync(join(secrets, 'DATABASE_DIRECT_URL'));
  });

  declare('database login: the old password is refused, the service works with the new one', async () => {
    const leaked = secretOf('DATABASE_URL');
    runBlocks(['database-login']);
    const early = installation.paste(['database-login-proof']);
    expect([early.status, early.output]).toEqual([
      1,
      expect.stringMatching(/^FAILED: .*restart it .*paste/m),
    ]);
    await restart();
    runBlocks(['database-login-proof']);
    await expect(withClient(leaked, (client) => client.query('select 1'))).rejects.toThrow('password');
  });

  declare("owner's login: the old password is refused, and the new one works", async () => {
    const leaked = secretOf('DATABASE_OWNER_URL');
    runBlocks(['database-owner', 'database-owner-proof']);
    await expect(withClient(leaked, (client) => client.query('select 1'))).rejects.toThrow('password');
    await withClient(secretOf('DATABASE_OWNER_URL'), (client) => client.query('select 1'));
  });

  declare('token key, the only one: the commands for one of several change nothing', async () => {
    writeFileSync(join(secrets, 'TOKEN_KEYS'), `k1:${'only-key-'.repeat(5)}\n`);
    expect(installation.paste(['token-key-one-of-several'])).toEqual({
      status: 1,
      output: 'FAILED: k1 is the only key: add k2 first. Or it has another name, one of: k1\n',
    });
    expect(secretOf('TOKEN_KEYS')).toBe(`k1:${'only-key-'.repeat(5)}`);
  });

  declare('account: its sessions end, and the service tokens that it has touched', async () => {
    const stolen = await logIn(base(), 'manager');
    const { rows } = await withClient(database.ownerUrl, (client) =>
      client.query<{ id: string }>("select id from users where username = 'manager' and tenant_id = $1", [
        DEMO.tenants.demo,
      ]),
    );
    const given = { USER_ID: String(rows[0]?.id), STOLEN: stolen };
    const send = async (token: string, body: object) => {
      const { text } = await ask(base(), {
        method: 'POST',
        path: '/api/ServiceTokens.php',
        headers: { authorization: `Bearer ${token}` },
        body: { ...body, current_password: DEMO.password },
      });
      return (JSON.parse(text) as { data: { token: string; service_token: { token_id: string } } }).data;
    };
    const events = async (token: string) =>
      (await ask(base(), { path: '/api/Events.php', headers: { authorization: `Bearer ${token}` } })).status;
    const create = (token: string, name: string, courier_id: string) =>
      send(token, { action: 'create', name, courier_id, scopes: ['packages:read'] });
    const admin = await logIn(base());
    const made = await create(stolen, 'of the thief', DEMO.couriers.HRB);
    const [rotated, changed, kept] = [
      await create(admin, 'rotated by the thief', DEMO.couriers.IEX),
      await create(admin, 'changed by the thief', DEMO.couriers.IEX),
      await create(admin, 'not touched', DEMO.couriers.IEX),
    ];
    const again = await send(stolen, { action: 'rotate', token_id: rotated.service_token.token_id });
    const scopes = ['packages:read', 'bills:read'];
    await send(stolen, { action: 'update', token_id: changed.service_token.token_id, scopes });
    expect(await sessions(stolen)).toBe(200);
    runBlocks(['account'], given);
    expect(await sessions(stolen)).toBe(401);
    const reached = [made, rotated, again, changed].map(({ token }) => token);
    expect(await Promise.all(reached.map(events))).toEqual([200, 200, 200, 200]);
    // Nothing was touched on a later day. The sessions have ended, but the tokens work.
    runBlocks(['account-tokens'], { ...given, STOLEN_SINCE: '2199-01-01' });
    expect(await events(made.token)).toBe(200);
    expect(installation.paste(['account-proof'], given)).toEqual({
      status: 1,
      output: expect.stringMatching(/^FAILED: .*a service token of the user is active$/m),
    });
    runBlocks(['account-tokens'], given);
    expect(await Promise.all(reached.map(events))).toEqual([401, 401, 401, 401]);
    expect(await events(kept.token)).toBe(200);
    runBlocks(['account-proof'], given);
    runBlocks(['account-tokens', 'account-proof'], given);
  });
});

describe('the comparison of docs/leaked-secrets.md', () => {
  beforeAll(open, LIMIT_MS);
  afterAll(() => installation.close(), LIMIT_MS);

  declare(
    'the comparison names each secret that is still the one from before, and each new one',
    async () => {
      const more = {
        AWS_ACCESS_KEY_ID: 'AKIDOFBEFORE',
        AWS_SECRET_ACCESS_KEY: 'secret-access-key',
        POSTGRES_PASSWORD: 'weak',
      };
      for (const [name, value] of Object.entries(more)) writeFileSync(join(secrets, name), `${value}\n`);
      expect(installation.paste(['compare']).output).toMatch(/^FAILED: the doctor compared nothing/m);
      runBlocks(['snapshot']);
      expect(readFileSync(join(secrets, 'before'), 'utf8')).not.toMatch(
        matching(/AKIDOFBEFORE|secret-access-key|weak/, 'AKIDOFBEFORE', 'a secret-access-key', 'a weak one'),
      );
      const compare = () => {
        const [, same = '', different = ''] =
          /^OK: still the ones from before: (.*); these secrets are different: (.*?)\. No longer set: .*not set here, .*DATABASE_CELLS.* Nothing else was compared$/m.exec(
            runBlocks(['compare']),
          ) ?? [];
        return { same: same.split(',').sort(), different: different.split(', ').sort() };
      };
      const databases = ['DATABASE_OWNER_URL', 'DATABASE_URL'];
      const others = [...Object.keys(more), 'ENCRYPTION_KEYS', 'LOOKUP_KEY'].sort();
      const all = [...others, ...databases, 'TOKEN_KEYS'].sort();
      expect(compare()).toEqual({ same: all, different: ['none'] });
      runBlocks(['token-key', 'database-login', 'database-owner']);
      expect(compare()).toEqual({
        same: others,
        different: [...databases, 'LOGIN_PASSWORD', 'OWNER_PASSWORD', 'TOKEN_KEYS', 'userlist.txt'].sort(),
      });
      for (const name of Object.keys(more)) writeFileSync(join(secrets, name), `new-${name}\n`);
      for (const name of ['ENCRYPTION_KEYS', 'LOOKUP_KEY'])
        writeFileSync(join(secrets, name), `${name === 'LOOKUP_KEY' ? '' : '9:'}${'ab12'.repeat(16)}\n`);
      const replaced = compare();
      expect(replaced.same).toEqual(['none']);
      expect(replaced.different).toEqual(expect.arrayContaining(all));
      // A second report would have the new secrets.
      const { status, output } = installation.paste(['snapshot']);
      expect([status, output]).toEqual([
        1,
        expect.stringMatching(/^FAILED: there is a file before already, of /m),
      ]);
    },
  );
});

declare('every block with a name was run', async () => {
  // blocks.test.ts runs the definitions of commands for each way of installing, and repeated-blocks.test.ts the block for a replacement
  // that has failed.
  const runsElsewhere = (name: string) => /^before$|^crossdock-|^psql-|^lookup-key-back$/.test(name);
  expect([...BLOCKS.keys()].filter((name) => !runsElsewhere(name) && !ran.has(name))).toEqual([]);
  expect(BLOCKS.size).toBeGreaterThan(15);
});
