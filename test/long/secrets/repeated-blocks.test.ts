import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { rounds } from '../../support/harness/effort.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { ask, logIn } from '../../support/service/client.js';
import { removeFolders } from '../../support/service/processes.js';
import { BLOCKS, openInstallation, type Installation } from '../../support/staging/leaked-secrets.js';

// docs/leaked-secrets.md: blocks and proofs that are pasted twice, in the wrong order, or after a failure.

const LIMIT_MS = 240_000;
const NEEDED = ['curl', 'psql', 'openssl'];
const missing = NEEDED.map((name) => (findProgram(name) ? undefined : name));
const declare = missing.some(Boolean) ? test.skip.each : test.each;

/** A secret, its blocks in their order, and its proof. */
type Procedure = {
  secret: string;
  blocks: string[];
  proof: string;
  /** Whether the service must restart before the proof. */
  restarts?: boolean;
};

/** Those without a restart are first: the others run in `npm run test:long`. */
const PROCEDURES: Procedure[] = [
  { secret: 'API key', blocks: ['api-key'], proof: 'api-key-proof' },
  {
    secret: 'webhook secret',
    blocks: ['webhook-secret', 'webhook-secret-end'],
    proof: 'webhook-secret-proof',
  },
  { secret: 'account', blocks: ['account', 'account-tokens'], proof: 'account-proof' },
  { secret: "owner's login", blocks: ['database-owner'], proof: 'database-owner-proof' },
  { secret: 'database login', blocks: ['database-login'], proof: 'database-login-proof', restarts: true },
  { secret: 'token key', blocks: ['token-key'], proof: 'token-key-proof', restarts: true },
  {
    secret: 'encryption key',
    blocks: ['encryption-key', 'encryption-key-rewrap'],
    proof: 'encryption-key-proof',
    restarts: true,
  },
];

let installation: Installation;
let given: Record<string, string>;

async function open(): Promise<void> {
  installation = await openInstallation();
  const { rows } = await withClient(installation.database.ownerUrl, (client) =>
    client.query<{ id: string }>("select id from users where username = 'manager' and tenant_id = $1", [
      DEMO.tenants.demo,
    ]),
  );
  given = { USER_ID: String(rows[0]?.id) };
}

afterAll(removeFolders);

/** Returns the last line, without what follows its first word. */
function paste(name: string, failing?: string): string {
  const { output } = installation.paste([name], given, failing);
  const last = output.trim().split('\n').at(-1) ?? '';
  return /^(OK|FAILED): ./.exec(last)?.[1] ?? output;
}

const secretOf = (name: string) => readFileSync(join(installation.secrets, name), 'utf8').trim();

/** The programs that a block calls. Functions of the page call curl. */
function programsOf(name: string): string[] {
  const text = BLOCKS.get(name) ?? '';
  const calls = {
    curl: /\b(log_in|post|status|curl)\b/,
    psql: /\bpsql /,
    openssl: /\bopenssl /,
    crossdock: /\bcrossdock /,
  };
  return Object.entries(calls).flatMap(([program, call]) => (call.test(text) ? [program] : []));
}

/** Pastes all blocks, each as often as given, and restarts the service where it must. */
async function replace({ blocks, restarts }: Procedure, times = 1): Promise<void> {
  for (const block of blocks) {
    for (let n = 0; n < times; n += 1) expect([block, paste(block)]).toEqual([block, 'OK']);
    if (restarts) await installation.restart();
  }
}

describe('the blocks of a secret', () => {
  // Each procedure replaces another secret, so all of them use one installation.
  beforeAll(open, LIMIT_MS);
  afterAll(() => installation.close(), LIMIT_MS);

  declare(PROCEDURES.slice(0, rounds(3, PROCEDURES.length)))(
    titleWith(
      'the proof of the $secret is OK if and only if the last blocks have worked, however often',
      missing,
    ),
    async (procedure) => {
      const { blocks, proof } = procedure;
      const [first = '', ...later] = blocks;
      expect(['no block', paste(proof)]).toEqual(['no block', 'FAILED']);
      for (const failing of programsOf(first)) {
        await replace(procedure);
        // The second leak.
        expect([failing, paste(first, failing)]).toEqual([failing, 'FAILED']);
        for (const block of later) paste(block);
        expect([failing, paste(proof)]).toEqual([failing, 'FAILED']);
      }
      for (const block of later)
        for (const failing of programsOf(block)) {
          expect([first, paste(first)]).toEqual([first, 'OK']);
          if (procedure.restarts) await installation.restart();
          expect([failing, paste(block, failing), paste(proof)]).toEqual([failing, 'FAILED', 'FAILED']);
        }
      await replace(procedure, 2);
      expect([paste(proof), paste(proof)]).toEqual(['OK', 'OK']);
    },
    LIMIT_MS,
  );
});

describe('the blocks of the lookup key', () => {
  beforeEach(open, LIMIT_MS);
  afterEach(() => installation.close(), LIMIT_MS);

  const replaced = () => existsSync(join(installation.secrets, 'replaced-lookup-key'));
  const pasteStopped = async (failing?: string, block = 'lookup-key') => {
    let outcome = '';
    await installation.restart(() => (outcome = paste(block, failing)));
    return outcome;
  };
  const one = (title: string, run: () => Promise<void>) =>
    (missing.some(Boolean) ? test.skip : test)(titleWith(title, missing), run, LIMIT_MS);

  one('refuse a second replacement until the first is proved, and keep new backup codes', async () => {
    const first = secretOf('LOOKUP_KEY');
    expect(await pasteStopped()).toBe('OK');
    const second = secretOf('LOOKUP_KEY');
    const countCodes = () =>
      withClient(installation.database.ownerUrl, async (client) => {
        await client.query(
          `insert into backup_codes (tenant_id, id, user_id, code_hash)
           select tenant_id, new_id(), id, repeat('ab', 32) from users where username = 'manager' and tenant_id = $1 on conflict do nothing`,
          [DEMO.tenants.demo],
        );
        return (await client.query('select from backup_codes')).rowCount;
      });
    const codes = await countCodes();
    let output = '';
    await installation.restart(() => ({ output } = installation.paste(['lookup-key'], given)));
    expect(output).toMatch(/nothing was changed: an earlier run [^]*start the service, and run its proof/);
    expect(output).toMatch(
      /^FAILED: this block replaced nothing, because the replacement before is complete: .*run its proof/m,
    );
    // Without the key of the setting, nobody could read the hashes of the database.
    expect(output).not.toContain('go back');
    expect(output).not.toContain('no process can start');
    await installation.restart(() => ({ output } = installation.paste(['lookup-key-back'], given)));
    expect(output).toMatch(/^FAILED: nothing was changed, because the replacement is complete: /m);
    expect(output).not.toContain('completes the replacement');
    // The service runs.
    expect(paste('lookup-key-back')).toBe('FAILED');
    expect([secretOf('LOOKUP_KEY'), secretOf('replaced-lookup-key')]).toEqual([second, first]);
    expect(existsSync(join(installation.secrets, 'unused-lookup-keys'))).toBe(false);
    expect(await countCodes()).toBe(codes);
    expect([paste('lookup-key-proof'), paste('lookup-key-proof')]).toEqual(['OK', 'OK']);
    expect(await pasteStopped()).toBe('OK');
    expect([first, second]).not.toContain(secretOf('LOOKUP_KEY'));
    expect(paste('lookup-key-proof')).toBe('OK');
    expect(secretOf('former-lookup-keys')).toBe(`${first}\n${second}`);
  });

  one(
    'prove nothing before a block, after one that failed, and while the service has the old key',
    async () => {
      // Reading the log appends its entries to the chain.
      const { url } = installation.replica();
      const headers = { authorization: `Bearer ${await logIn(url)}` };
      expect((await ask(url, { path: '/api/AuditLog.php', headers })).status).toBe(200);
      expect(paste('lookup-key-proof')).toBe('FAILED');
      expect(await pasteStopped('openssl')).toBe('FAILED');
      expect([paste('lookup-key-proof'), replaced()]).toEqual(['FAILED', true]);
      expect(paste('lookup-key', 'crossdock')).toBe('FAILED');
      expect([paste('lookup-key-proof'), replaced()]).toEqual(['FAILED', true]);
      // The service runs with the old key.
      expect(paste('lookup-key')).toBe('FAILED');
      expect([paste('lookup-key-proof'), replaced()]).toEqual(['FAILED', true]);
      expect((await ask(url, { path: '/api/Sessions.php', headers })).status).toBe(200);
    },
  );

  one('leave the key as it was if the replacement is refused, and complete an interrupted one', async () => {
    const first = secretOf('LOOKUP_KEY');
    expect(paste('snapshot')).toBe('OK');
    // The service runs.
    const { output } = installation.paste(['lookup-key'], given);
    expect(output).toMatch(/Stop every server[^]*^FAILED: .* The setting has the key of before\./m);
    expect([secretOf('LOOKUP_KEY'), replaced()]).toEqual([first, false]);
    expect(installation.paste(['compare'], given).output).toMatch(
      /^OK: still the ones from before: .*LOOKUP_KEY/m,
    );

    // An interruption between the file and the database.
    writeFileSync(join(installation.secrets, 'replaced-lookup-key'), `${first}\n`);
    writeFileSync(join(installation.secrets, 'LOOKUP_KEY'), `${'0123456789abcdef'.repeat(4)}\n`);
    expect(await pasteStopped()).toBe('OK');
    expect(paste('lookup-key-proof')).toBe('OK');
    expect(installation.paste(['compare'], given).output).toMatch(/^OK: .*different: .*LOOKUP_KEY/m);
  });

  one('go back only to a key that the database uses, and keep both keys', async () => {
    const first = secretOf('LOOKUP_KEY');
    const [newer, newest] = ['0123456789abcdef'.repeat(4), 'fedcba9876543210'.repeat(4)];
    for (const unused of [newer, newest]) {
      // An interruption between the file and the database.
      writeFileSync(join(installation.secrets, 'replaced-lookup-key'), `${first}\n`);
      writeFileSync(join(installation.secrets, 'LOOKUP_KEY'), `${unused}\n`);
      // The service runs with the old key.
      expect(paste('lookup-key-back')).toBe('FAILED');
      expect([secretOf('LOOKUP_KEY'), secretOf('replaced-lookup-key')]).toEqual([unused, first]);
      // The service starts only with the key that the database uses.
      expect(await pasteStopped(undefined, 'lookup-key-back')).toBe('OK');
      expect([secretOf('LOOKUP_KEY'), replaced()]).toEqual([first, false]);
    }
    expect(secretOf('unused-lookup-keys')).toBe(`${newer}\n${newest}`);
    expect(await pasteStopped(undefined, 'lookup-key-back')).toBe('FAILED');
    expect(secretOf('LOOKUP_KEY')).toBe(first);

    // An interruption of the block, after which the database has the key that was not used.
    writeFileSync(join(installation.secrets, 'replaced-lookup-key'), `${newer}\n`);
    writeFileSync(join(installation.secrets, 'unused-lookup-keys'), `${newer}\n${first}\n`);
    writeFileSync(join(installation.secrets, 'LOOKUP_KEY'), `${newer}\n`);
    await installation.restart(() => {
      const { output } = installation.paste(['lookup-key-back'], given);
      expect(output).toMatch(/^FAILED: .* put LOOKUP_KEY "\$\(tail -n 1 "\S+\/unused-lookup-keys"\)"/m);
      writeFileSync(join(installation.secrets, 'LOOKUP_KEY'), `${first}\n`);
    });
  });

  one('say that the API key failed the proof, and not the chains', async () => {
    expect(await pasteStopped()).toBe('OK');
    const COURIER_KEY = 'of-after-the-restore-point';
    expect(installation.paste(['lookup-key-proof'], { ...given, COURIER_KEY }).output).toMatch(
      /^FAILED: the chains verify with the key of the setting, and \S+ did not accept the API key COURIER_KEY/m,
    );
    expect(paste('lookup-key-proof')).toBe('OK');
  });

  one('prove nothing after a second block that failed at its beginning', async () => {
    expect(await pasteStopped()).toBe('OK');
    expect([paste('lookup-key-proof'), replaced()]).toEqual(['OK', false]);
    expect(await pasteStopped('cp')).toBe('FAILED');
    expect(paste('lookup-key-proof')).toBe('FAILED');
  });
});
