import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import speakeasy from 'speakeasy';
import { createApp, type App } from '../../src/app.js';
import { openSecrets, type EncryptionContext, type Secrets } from '../../src/platform/access/secrets.js';
import { developmentConfig } from '../support/staging/development.js';
import { signingSecrets, type SigningRow } from '../../src/modules/couriers/settings/webhook-secret.js';
import { openDb } from '../../src/platform/db/open-database.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { newId } from '../../src/platform/values/ids.js';
import { ask, logIn } from '../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../support/service/database.js';
import { endProcesses, run, until } from '../support/service/processes.js';
import { matching } from '../support/assertions/matching.js';

const OLD = `1:${'d0'.repeat(32)}`;
const NEW = `2:${'5e'.repeat(32)}`;
const BOTH = `${NEW},${OLD}`;
const MANY = 1_100;

let database: TestDatabase;
let owner: pg.Pool;
let url: string;

// Each test starts a rotation: the demo data's secrets are encrypted with the old key.
beforeEach(async () => {
  database = await demoDatabase();
  url = database.ownerUrl;
  owner = new pg.Pool({ connectionString: url, max: 4 });
  owner.on('error', () => undefined);
});

afterEach(async () => {
  await endProcesses();
  await owner.end();
  await database.drop();
});

const closing: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const close of closing) await close();
});

/** Starts a replica on the same database with the given keys. */
async function startReplica(keys: string): Promise<{ app: App; url: string; stop(): Promise<void> }> {
  const config = developmentConfig({
    LOG_LEVEL: 'silent',
    PORT: '0',
    DATABASE_URL: url,
    ENCRYPTION_KEYS: keys,
  });
  const db = openDb({ url, size: 5, assumeRole: 'crossdock_app', onError: () => {} });
  const app = await createApp({ config, db });
  const address = await app.server.listen({ host: '127.0.0.1', port: 0 });
  const stop = async () => {
    await app.server.close();
    await db.close();
  };
  return { app, url: address, stop };
}

async function rewrap(keys = BOTH, args: string[] = []): Promise<{ code: number | null; output: string }> {
  const settings = { DATABASE_URL: url, DATABASE_OWNER_URL: url, ENCRYPTION_KEYS: keys };
  const program = run('src/commands/rewrap.js', settings, args);
  const { code } = await program.ended;
  return { code, output: program.output() };
}

const secretsOf = (keys: string): Secrets =>
  openSecrets(developmentConfig({ ENCRYPTION_KEYS: keys }).secrets);

/**
 * Inserts couriers with an API key, a token and two webhook secrets each; enough for more than two batches.
 */
async function insertCouriers(): Promise<{ id: string; key: string; token: string }[]> {
  const secrets = secretsOf(OLD);
  const encrypt = (text: string, rowId: string, field: EncryptionContext['field']) =>
    secrets.encrypt(text, { tenantId: DEMO.tenants.demo, rowId, field });
  const inserted = Array.from({ length: MANY }, (_, n) => ({
    id: newId(),
    key: `key-${n}`,
    token: `token-${n}`,
  }));
  const rows = inserted.map(({ id, key, token }) => ({
    tenant_id: DEMO.tenants.demo,
    id,
    code: id,
    name: id,
    api_key_hash: secrets.lookupHash(key, 'api_key'),
    api_key_cipher: encrypt(key, id, 'api_key'),
    api_token_cipher: encrypt(token, id, 'api_token'),
    webhook_secret_cipher: encrypt(`new-${token}`, id, 'webhook_secret'),
    webhook_previous_secret_cipher: encrypt(`old-${token}`, id, 'webhook_previous_secret'),
    webhook_secret_rotated_at: new Date(),
  }));
  const columns = Object.keys(rows[0] ?? {}).join(', ');
  await owner.query(
    `insert into couriers (${columns}) select ${columns} from jsonb_populate_recordset(null::couriers, $1)`,
    [JSON.stringify(rows)],
  );
  return inserted;
}

async function versions(): Promise<Record<string, number>> {
  const { rows } = await owner.query<{ version: string; count: number }>(
    `select split_part(cipher, '.', 1) as version, count(*)::int from (
       select api_key_cipher as cipher from couriers union all select api_token_cipher from couriers
       union all select webhook_secret_cipher from couriers union all select webhook_previous_secret_cipher from couriers
       union all select totp_secret from users union all select totp_pending_secret from users) as stored
     where cipher is not null group by 1 order by 1`,
  );
  return Object.fromEntries(rows.map(({ version, count }) => [version, count]));
}

async function settingsOf(base: string, token: string, id: string) {
  const headers = { authorization: `Bearer ${token}` };
  const reply = await ask(base, { path: `/api/CourierSettingsAPI.php?id=${id}`, headers });
  expect([reply.status, reply.status === 200 ? '' : reply.text]).toEqual([200, '']);
  // The contract defines this shape of the settings.
  return (JSON.parse(reply.text) as { data: { api_key: string; api_token: string | null } }).data;
}

test('all secrets can be decrypted with the new key alone after a rewrap that runs while API keys are regenerated', async () => {
  const inserted = await insertCouriers();
  const pending = {
    tenantId: DEMO.tenants.demo,
    rowId: DEMO.users.warehouse,
    field: 'totp_pending_secret',
  } as const;
  await owner.query(
    'update users set totp_pending_secret = $2, totp_pending_expires_at = now() where id = $1',
    [pending.rowId, secretsOf(OLD).encrypt('PENDING', pending)],
  );
  expect(Object.keys(await versions())).toEqual(['v1']);
  const rotating = await startReplica(BOTH);
  const token = await logIn(rotating.url);
  const rewrapping = { isDone: false };
  const newKeys: string[] = [];
  const regenerating = (async () => {
    while (!rewrapping.isDone || newKeys.length < 20) {
      const reply = await ask(rotating.url, {
        method: 'POST',
        path: `/api/CourierSettingsAPI.php?id=${DEMO.couriers.IEX}`,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' },
        raw: 'action=regenerate_key',
      });
      expect([200, 503]).toContain(reply.status);
      // The contract defines this shape of a new key.
      if (reply.status === 200)
        newKeys.push((JSON.parse(reply.text) as { data: { api_key: string } }).data.api_key);
    }
  })();
  await until(async () => newKeys.length >= 3);
  const { code, output } = await rewrap();
  rewrapping.isDone = true;
  await regenerating;
  await rotating.stop();

  expect([code, output]).toEqual([0, expect.stringContaining('All secrets use the newest key.')]);
  expect(output).toMatch(new RegExp(`couriers.api_token_cipher: ${MANY} rewrapped, now v2 ${MANY}\n`));
  for (const column of ['webhook_secret_cipher', 'webhook_previous_secret_cipher'])
    expect(output).toMatch(new RegExp(`couriers.${column}: ${MANY} rewrapped, now v2 ${MANY}\n`));
  expect(output).toMatch(/users.totp_secret: 1 rewrapped, now v2 1\n/);
  expect(output).toMatch(/users.totp_pending_secret: 1 rewrapped, now v2 1\n/);
  const secrets = ['key-1', 'token-1', 'KRSXG5', 'PENDING', 'aaaaaaaa'] as const;
  expect(output).not.toMatch(matching(/key-\d|token-\d|KRSXG5|PENDING|aaaaaaaa/, ...secrets));
  expect(Object.keys(await versions())).toEqual(['v2']);

  const rotated = await startReplica(NEW);
  closing.push(rotated.stop);
  const staff = await logIn(rotated.url);
  await expectSigners(rotated.app.secrets, inserted);
  const { rows: stored } = await owner.query(
    'select totp_pending_secret as cipher from users where id = $1',
    [pending.rowId],
  );
  expect(rotated.app.secrets.decrypt(stored[0].cipher, pending)).toBe('PENDING');
  const some = inserted.filter((_, n) => n % 100 === 0 || n === MANY - 1);
  for (const { id, key, token: expected } of some)
    expect(await settingsOf(rotated.url, staff, id)).toMatchObject({ api_key: key, api_token: expected });
  // The last regenerated key is stored and works.
  const last = newKeys.at(-1) ?? '';
  expect((await settingsOf(rotated.url, staff, DEMO.couriers.IEX)).api_key).toBe(last);
  const body = { UserCode: 'IEX-1001', TrackingNumber: 'REWRAP-1' };
  const submit = (key: string) =>
    ask(rotated.url, { method: 'POST', path: '/api/Prealert.php', headers: { 'x-api-key': key }, body });
  expect((await submit(last)).status).toBe(201);
  expect((await submit(newKeys.at(-2) ?? '')).status).toBe(403);
  expect(await twoFactorLogin(rotated.url)).toBe(200);
  await closing.pop()?.();
});

/** Asserts that the webhook signing secrets are unchanged and can be decrypted with the new key alone. */
async function expectSigners(secrets: Secrets, inserted: { id: string; token: string }[]): Promise<void> {
  const tokens = new Map(inserted.map(({ id, token }) => [id, token]));
  const { rows } = await owner.query<SigningRow>(
    `select tenant_id as "tenantId", id, webhook_secret_cipher as "webhookSecretCipher",
       webhook_previous_secret_cipher as "webhookPreviousSecretCipher",
       webhook_secret_rotated_at as "webhookSecretRotatedAt"
     from couriers where id = any($1)`,
    [[...tokens.keys()]],
  );
  expect(rows).toHaveLength(inserted.length);
  for (const row of rows) {
    const token = String(tokens.get(row.id));
    expect(signingSecrets(secrets, row, new Date())).toEqual([`new-${token}`, `old-${token}`]);
  }
}

async function twoFactorLogin(base: string): Promise<number> {
  const post = (body: unknown) => ask(base, { method: 'POST', path: '/api/login.php', body });
  const first = await post({ action: 'login', username: 'guarded', password: DEMO.password });
  // The contract defines this shape of a login that needs a second factor.
  const { data } = JSON.parse(first.text) as { data: { preauth_token: string } };
  const code = speakeasy.totp({ secret: DEMO.totpSecret, encoding: 'base32' });
  return (await post({ action: 'verify_2fa', preauth_token: data.preauth_token, code })).status;
}

test('a second run changes nothing, because the first one rewrapped the secrets of every tenant', async () => {
  expect((await rewrap()).code).toBe(0);
  expect(Object.keys(await versions())).toEqual(['v2']);
  const before = await versions();
  const again = await rewrap();
  expect(again.code).toBe(0);
  expect(again.output).toMatch(/couriers.api_key_cipher: 0 rewrapped, now v2 3\n/);
  expect(await versions()).toEqual(before);
  const { rows } = await owner.query(
    `select t.slug, count(*)::int from audit_entries a join tenants t on t.id = a.tenant_id
     where action = 'tenant.secrets_rewrapped' and actor_kind = 'system' group by 1 order by 1`,
  );
  expect(rows).toEqual([
    { slug: 'demo', count: 2 },
    { slug: 'two', count: 1 },
  ]);
});

test('an interrupted run is resumed by the next one', async () => {
  const last = (await insertCouriers()).at(-1)?.id;
  const settings = { DATABASE_URL: url, DATABASE_OWNER_URL: url, ENCRYPTION_KEYS: BOTH };
  const holder = await owner.connect();
  try {
    await holder.query('begin');
    await holder.query('select from couriers where id = $1 for update', [last]);
    const stopped = run('src/commands/rewrap.js', settings);
    await until(isWaiting);
    stopped.child.kill('SIGKILL');
    await stopped.ended;
    await holder.query('rollback');
  } finally {
    holder.release();
  }
  const between = await versions();
  expect([between['v1'], between['v2']]).toEqual([expect.any(Number), expect.any(Number)]);
  expect((await rewrap()).code).toBe(0);
  expect(Object.keys(await versions())).toEqual(['v2']);
});

/** Whether a statement waits for a row lock. */
async function isWaiting(): Promise<boolean> {
  const { rowCount } = await owner.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount === 1;
}

test('a secret that changed after it was read is not overwritten', async () => {
  const renewed = secretsOf(BOTH).encrypt('meanwhile', {
    tenantId: DEMO.tenants.demo,
    rowId: DEMO.couriers.IEX,
    field: 'api_key',
  });
  const holder = await owner.connect();
  try {
    await holder.query('begin');
    await holder.query('update couriers set api_key_cipher = $1 where id = $2', [renewed, DEMO.couriers.IEX]);
    const running = rewrap();
    // It has read the old secret and waits for the row lock.
    await until(isWaiting);
    await holder.query('commit');
    expect((await running).code).toBe(0);
  } finally {
    holder.release();
  }
  const { rows } = await owner.query('select api_key_cipher from couriers where id = $1', [
    DEMO.couriers.IEX,
  ]);
  expect(rows).toEqual([{ api_key_cipher: renewed }]);
});

test('secrets that cannot be decrypted are reported by table and row, nothing is changed unless the operator says so, and the exit code is 1', async () => {
  const { HRB, IEX } = DEMO.couriers;
  const ids = [HRB, newId(), newId(), newId(), newId()];
  const contextOf = (rowId: string, field: EncryptionContext['field'] = 'api_key') =>
    ({ tenantId: DEMO.tenants.demo, rowId, field }) as const;
  const ciphers = [
    // encrypted with a lost key, for another row, not ciphertexts (two), for another field
    secretsOf(`9:${'99'.repeat(32)}`).encrypt('lost', contextOf(HRB)),
    secretsOf(OLD).encrypt('moved', contextOf(IEX)),
    'v1.AAAA',
    'nonsense',
    secretsOf(NEW).encrypt('moved', contextOf(String(ids[4]), 'api_token')),
  ];
  await owner.query(
    `insert into couriers (tenant_id, id, code, name) select $1, id, id, id from unnest($2::uuid[]) as id`,
    [DEMO.tenants.demo, ids.slice(1)],
  );
  const bad = ids.map((id, n) => ({ id, cipher: ciphers[n] }));
  for (const { id, cipher } of bad)
    await owner.query('update couriers set api_key_cipher = $1, api_key_hash = $2 where id = $3', [
      cipher,
      secretsOf(OLD).lookupHash(id, 'api_key'),
      id,
    ]);
  const before = await versions();
  const refused = await rewrap();
  expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('Nothing was changed.')]);
  expect(await versions()).toEqual(before);
  const { code, output } = await rewrap(BOTH, ['--skip-undecryptable']);
  expect(code).toBe(1);
  for (const { id } of bad)
    expect(refused.output).toContain(`couriers ${id}: api_key_cipher cannot be decrypted`);
  for (const { id } of bad) expect(output).toContain(`couriers ${id}: api_key_cipher cannot be decrypted`);
  expect(output).toContain(`Secrets that cannot be decrypted: ${bad.length}. Keep the old keys.`);
  const cipherOf = async (id: string) => {
    const { rows } = await owner.query<{ cipher: string }>(
      'select api_key_cipher as cipher from couriers where id = $1',
      [id],
    );
    return rows[0]?.cipher;
  };
  for (const { id, cipher } of bad) expect(await cipherOf(id)).toBe(cipher);
  expect(await cipherOf(IEX)).toMatch(/^v2\./);
});

test('wrong keys change nothing, because ciphertexts of the newest version are verified too', async () => {
  const before = await versions();
  const { code, output } = await rewrap(`1:${'ab'.repeat(32)}`);
  expect([code, output]).toEqual([
    1,
    expect.stringContaining('Secrets that cannot be decrypted: 4. Keep the old keys.'),
  ]);
  expect(await versions()).toEqual(before);
});

test('missing settings are reported by name', async () => {
  const program = run('src/commands/rewrap.js', { APP_ENV: 'production' });
  expect((await program.ended).code).toBe(1);
  expect(program.output()).toContain('ENCRYPTION_KEYS is required in production');
});

test('a secret that was stored under an upper-case id is encrypted again for the lower-case id, even with the newest key', async () => {
  const { IEX: id } = DEMO.couriers;
  const newest = secretsOf(OLD);
  const contextOf = (rowId: string): EncryptionContext => ({
    tenantId: DEMO.tenants.demo,
    rowId,
    field: 'api_token',
  });
  const boundToUpperCase = newest.encrypt('token', contextOf(id.toUpperCase()));
  expect(newest.isBoundTo(boundToUpperCase, contextOf(id))).toBe(false);
  await owner.query('update couriers set api_token_cipher = $2 where id = $1', [id, boundToUpperCase]);
  expect((await rewrap(OLD)).code).toBe(0);
  const { rows } = await owner.query<{ api_token_cipher: string }>(
    'select api_token_cipher from couriers where id = $1',
    [id],
  );
  const cipher = rows[0]?.api_token_cipher ?? '';
  expect([newest.isBoundTo(cipher, contextOf(id)), newest.decrypt(cipher, contextOf(id))]).toEqual([
    true,
    'token',
  ]);
});
