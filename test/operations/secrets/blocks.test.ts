import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { matching } from '../../support/assertions/matching.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

// The shell blocks of the documents, line by line as somebody pastes them into a terminal: no `set -e`, and each command may fail.

const docs = join(projectRoot, 'docs');
const blocksOf = (page: string) =>
  [...readFileSync(join(docs, page), 'utf8').matchAll(/^```sh(?: name=(\S+))?\n(.*?)^```$/gms)].map(
    ([, name = '', text = '']) => ({ page, name, text }),
  );

const NAMED = blocksOf('leaked-secrets.md').filter(({ name }) => name !== '');
const textOf = (name: string) => NAMED.find((block) => block.name === name)?.text ?? '';
const DEFINITIONS = ['before', 'crossdock-systemd', 'crossdock-compose', 'crossdock-helm', 'psql-compose'];

afterAll(removeFolders);

/** Programs that do what the real ones do if everything works, as far as a block sees it. */
const PROGRAMS: Record<string, string> = {
  crossdock: 'case $1 in doctor) echo "ok       encryption   all"; echo "ok       audit   all";; esac',
  psql: 'case "$*" in *Atc*) exit 2;; esac',
  openssl: 'head -c 32 /dev/urandom | od -An -tx1 | tr -d " \\n"',
  curl: `case "$*" in *http_code*) printf 401;; *) echo '{"access_token":"a.b.c","webhook_secret":"whsec_x"}';; esac`,
};

/** Writes programs, which record that they are called. Pauses of a block take no time. */
async function makePrograms(programs: Record<string, string>): Promise<string> {
  const bin = await makeFolder();
  for (const [name, script] of Object.entries({ sleep: '', ...programs })) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >>${bin}/calls\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return bin;
}

/** Returns the names of the programs that were called, once per call. */
const callsIn = (bin: string): string[] =>
  existsSync(join(bin, 'calls')) ? readFileSync(join(bin, 'calls'), 'utf8').trim().split('\n') : [];

/**
 * Runs `examine` while nothing fails, and then once per program of `PROGRAMS` that the block called, while that one fails. The failure of
 * another program changes nothing.
 *
 * @param examine runs the block with a folder of programs
 */
async function whicheverFails(
  programs: Record<string, string>,
  examine: (bin: string, failing: string) => Promise<void>,
): Promise<void> {
  const good = await makePrograms(programs);
  await examine(good, 'none');
  const called = new Set(callsIn(good));
  for (const failing of Object.keys(PROGRAMS).filter((name) => called.has(name)))
    await examine(await makePrograms({ ...programs, [failing]: 'exit 1' }), failing);
}

const hex = (digit: string) => digit.repeat(64);
const FILES: Record<string, string> = {
  TOKEN_KEYS: `k1:${hex('1')},k2:${hex('2')}`,
  ENCRYPTION_KEYS: `2:${hex('4')},1:${hex('3')}`,
  LOOKUP_KEY: hex('5'),
  DATABASE_URL: `postgres://crossdock_login:${hex('6')}@db:5432/crossdock`,
  DATABASE_OWNER_URL: `postgres://crossdock_owner:${hex('7')}@db:5432/crossdock`,
  LOGIN_PASSWORD: hex('6'),
  OWNER_PASSWORD: hex('7'),
  'userlist.txt': `"crossdock_login" "${hex('6')}"`,
};

async function makeSecrets(more: Record<string, string>): Promise<string> {
  const secrets = join(await makeFolder(), 'secrets');
  mkdirSync(secrets);
  for (const [name, value] of Object.entries({ ...FILES, ...more }))
    writeFileSync(join(secrets, name), `${value}\n`);
  return secrets;
}

const readAll = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

const secretsIn = (files: Record<string, string>) =>
  [...new Set(Object.values(files).flatMap((text) => text.match(/[0-9a-f]{64}/g) ?? []))].sort();

/** Runs a block as a terminal does: a line that fails does not stop the next one. */
function paste(name: string, bin: string, secrets: string) {
  // The first block also prints OK, which is not that of the others.
  return runText(`{\n${textOf('before')}} >/dev/null\n${textOf(name)}`, bin, secrets);
}

function runText(text: string, bin: string, secrets: string) {
  return spawnSync('sh', ['-c', text], {
    encoding: 'utf8',
    env: {
      PATH: `${bin}:${process.env['PATH']}`,
      SECRETS: secrets,
      SUPERUSER_URL: 'postgres://postgres@db/crossdock',
      API: 'http://127.0.0.1:9/api',
      ADMIN: 'admin',
      PASSWORD: 'p',
      TOKEN: 'a.b.c',
      LEAKED_TOKEN: 'd.b.c',
      LEAKED_KEYS: `1:${hex('3')}`,
      NEWEST_KEY: `2:${hex('4')}`,
      NEW_API_KEY: 'key',
      NEWEST: 'whsec_x',
      USER_ID: 'user',
      CHANGED_USER: 'user',
      SEARCHED_USER: 'user',
      LEAKED_URL: 'postgres://a@db/x',
      LEAKED_OWNER_URL: 'postgres://b@db/x',
    },
  });
}

const SUCCESS = matching(/^OK: /m, 'OK: it worked');

describe('a block of docs/leaked-secrets.md of which a command fails', () => {
  const blocks = NAMED.filter(({ name }) => !DEFINITIONS.includes(name));

  test.each(blocks)('$name loses no secret, whichever program fails', async ({ name }) => {
    await whicheverFails(PROGRAMS, async (bin, failing) => {
      // As the block before it has left it.
      const secrets = await makeSecrets(
        /^lookup-key-(back|proof)$/.test(name) ? { 'replaced-lookup-key': hex('8') } : {},
      );
      const before = readAll(secrets);
      const { stdout, stderr } = paste(name, bin, secrets);
      // Somebody who looks only at the last line must see it.
      expect([failing, `${stdout}${stderr}`]).toEqual([failing, expect.stringMatching(/^(OK|FAILED): /m)]);
      const after = readAll(secrets);
      const empty = Object.entries(after).filter(([file, text]) => file in FILES && text.trim() === '');
      expect([failing, empty]).toEqual([failing, []]);
      // A block of which nothing fails may replace what it says.
      if (failing === 'none') return;
      if (name !== 'compare') expect([failing, stdout.search(SUCCESS)]).toEqual([failing, -1]);
      const lost = secretsIn(before).filter((secret) => !secretsIn(after).includes(secret));
      expect([failing, lost]).toEqual([failing, []]);
    });
  });

  test('is compared with blocks that replace secrets if nothing fails', async () => {
    const bin = await makePrograms(PROGRAMS);
    const replaced: string[] = [];
    for (const { name } of blocks) {
      const secrets = await makeSecrets({});
      paste(name, bin, secrets);
      if (secretsIn(readAll(secrets)).join() !== secretsIn(FILES).join()) replaced.push(name);
    }
    expect(replaced).toEqual([
      'token-key',
      'token-key-one-of-several',
      'encryption-key',
      'lookup-key',
      'database-login',
      'database-owner',
    ]);
  });

  test('keeps the old encryption keys in one line until the proof, also if the block is pasted twice', async () => {
    const bin = await makePrograms(PROGRAMS);
    const secrets = await makeSecrets({});
    for (let n = 0; n < 3; n += 1)
      expect(paste('encryption-key-rewrap', bin, secrets).stdout).toMatch(/^OK: /m);
    const { ENCRYPTION_KEYS: present, 'replaced-encryption-keys': kept } = readAll(secrets);
    expect([present, kept]).toEqual([`2:${hex('4')}\n`, `2:${hex('4')},1:${hex('3')}\n`]);
  });

  // printf is a part of the shell, so no program takes its place.
  test.each(['cat', 'mv', 'tail'])(
    'keeps the old encryption keys in the last line after an interruption at %s',
    async (program) => {
      const earlier = `1:${hex('3')},0:${hex('9')}\n`;
      const secrets = await makeSecrets({ 'replaced-encryption-keys': earlier.trim() });
      const good = await makePrograms(PROGRAMS);
      const countCalls = (bin: string) => callsIn(bin).filter((name) => name === program).length;
      for (let failing = 1, calls = 1; calls >= failing; failing += 1) {
        writeFileSync(join(secrets, 'ENCRYPTION_KEYS'), `2:${hex('4')},1:${hex('3')}\n`);
        const script = `test "$(grep -cx ${program} "$(dirname "$0")/calls")" -ne ${failing} || exit 1\nexec /bin/${program} "$@"`;
        const bin = await makePrograms({ ...PROGRAMS, [program]: script });
        paste('encryption-key-rewrap', bin, secrets);
        calls = countCalls(bin);
        expect(calls).toBeGreaterThan(0);
        const { ENCRYPTION_KEYS: present, 'replaced-encryption-keys': kept = '' } = readAll(secrets);
        // Removed from the setting only if it is kept.
        expect(`${kept}${present}`).toContain(`1:${hex('3')}`);
        expect(paste('encryption-key-rewrap', good, secrets).stdout).toMatch(/^OK: /m);
        expect(readAll(secrets)['replaced-encryption-keys']).toBe(`${earlier}2:${hex('4')},1:${hex('3')}\n`);
      }
    },
  );

  test('pasted twice keeps each old secret once, also after an interruption', async () => {
    const KEPT = ['replaced-encryption-keys', 'replaced-lookup-key', 'before'];
    const report = `printf '%s\\n' '{' '"hashes":{}' '}'`;
    const programs = {
      ...PROGRAMS,
      crossdock: `case "$*" in *--json*) ${report};; doctor*) echo "ok       encryption   all"; echo "ok       audit   all";; esac`,
    };
    const good = await makePrograms(programs);
    const keptIn = (secrets: string) => {
      const files = readAll(secrets);
      return KEPT.map((name) => files[name]);
    };
    // The others keep nothing.
    const keeping = blocks.filter(({ text }) => KEPT.some((file) => text.includes(`/${file}`)));
    expect(keeping.length).toBeGreaterThan(3);
    for (const { name } of keeping)
      await whicheverFails(programs, async (bin, failing) => {
        const secrets = await makeSecrets({});
        paste(name, bin, secrets);
        paste(name, good, secrets);
        const once = keptIn(secrets);
        paste(name, good, secrets);
        expect([name, failing, ...keptIn(secrets)]).toEqual([name, failing, ...once]);
        expect([name, failing, once.filter((text = '') => text.split(hex('3')).length > 2)]).toEqual([
          name,
          failing,
          [],
        ]);
      });
  }, 120_000);

  test('goes on after a full disk, which left an empty copy of the old lookup key', async () => {
    const full = await makePrograms({ ...PROGRAMS, cp: 'for to; do :; done; : >"$to"; exit 1' });
    const secrets = await makeSecrets({});
    expect(paste('lookup-key', full, secrets).stderr).toMatch(/^FAILED: /m);
    expect(readAll(secrets)['LOOKUP_KEY']).toBe(`${hex('5')}\n`);
    const { stdout } = paste('lookup-key', await makePrograms(PROGRAMS), secrets);
    expect(stdout).toMatch(/^OK: /m);
    const { LOOKUP_KEY: present, 'replaced-lookup-key': replaced } = readAll(secrets);
    expect([present === replaced, replaced]).toEqual([false, `${hex('5')}\n`]);
  });

  test('before prints OK if SECRETS is the folder of the secrets, and else FAILED', async () => {
    const bin = await makePrograms(PROGRAMS);
    const secrets = await makeSecrets({});
    const outcome = (folder: string) => {
      const { stdout, stderr } = runText(textOf('before'), bin, folder);
      return `${stdout}${stderr}`;
    };
    expect(outcome(secrets)).toBe(`OK: the secrets are those of ${secrets}\n`);
    expect(outcome(bin)).toMatch(/^FAILED: SECRETS is '.*', which is not the folder of the secrets\..*\n$/);
    expect(outcome('')).toMatch(/^FAILED: SECRETS is '', which/);
  });

  test.each(['none', 'cat', 'mv', 'chmod'])(
    'put overwrites no lookup key that no file has, also if %s fails, and keeps each once',
    async (failing) => {
      const secrets = await makeSecrets({});
      const { LOOKUP_KEY: first = '' } = FILES;
      const put = async (key: string, program: string) =>
        runText(
          `${textOf('before')}\nput LOOKUP_KEY ${key}`,
          await makePrograms({ ...PROGRAMS, [program]: program === 'none' ? '' : 'exit 1' }),
          secrets,
        ).status;
      expect((await put(hex('a'), failing)) === 0).toBe(failing === 'none');
      expect(Object.values(readAll(secrets)).join()).toContain(first);
      for (const key of [hex('a'), hex('a'), hex('b'), hex('a'), hex('b')])
        expect(await put(key, 'none')).toBe(0);
      const { LOOKUP_KEY: present, 'former-lookup-keys': former } = readAll(secrets);
      expect([present, former]).toEqual([`${hex('b')}\n`, `${first}\n${hex('a')}\n${hex('b')}\n`]);
    },
  );

  test('counts no lookup key as different that the database does not use', async () => {
    const rows = [
      'problem  deployment   The deployment d (APP_ENV=production) has used this database with another LOOKUP_KEY, and nothing was changed.',
      'ok       secrets      Compared with the report, these secrets are different: LOOKUP_KEY.',
    ];
    const doctor = (lines: string[]) => lines.map((line) => `echo "${line}"`).join('\n');
    const secrets = await makeSecrets({ before: '{}' });
    const interrupted = paste(
      'compare',
      await makePrograms({ ...PROGRAMS, crossdock: doctor(rows) }),
      secrets,
    );
    expect(interrupted.stdout.split('\n').filter((line) => line.startsWith('OK'))).toEqual([]);
    expect(interrupted.stderr).toMatch(
      /^FAILED: LOOKUP_KEY is not the key that the database uses.*paste the block lookup-key again/m,
    );
    const complete = paste(
      'compare',
      await makePrograms({ ...PROGRAMS, crossdock: doctor(rows.slice(1)) }),
      secrets,
    );
    expect(complete.stdout).toMatch(/^OK: .*different: LOOKUP_KEY/m);
  });

  test('does not lose the old lookup key if the block is pasted twice', async () => {
    // The check finds nothing, and the replacement fails.
    const bin = await makePrograms({ ...PROGRAMS, crossdock: 'case "$*" in *--check*) ;; *) exit 1;; esac' });
    const secrets = await makeSecrets({});
    for (let n = 0; n < 2; n += 1) paste('lookup-key', bin, secrets);
    expect(readAll(secrets)['replaced-lookup-key']).toBe(`${hex('5')}\n`);
  });
});

/** What removes, replaces or restarts something. */
const DESTRUCTIVE =
  /(^|[\s(;])(rm|mv|put|dropdb|shred|truncate) |ln -sf|drop (role|database)|aws iam delete|systemctl restart/;

/** Joins the lines of a command that continues. */
const commandsOf = (text: string) =>
  text
    .replace(/(^|\s)#\s.*$/gm, '')
    .replace(/\\\n|(&&|\|\||\bdo|\bthen|;)[ ]*\n/g, (found) => `${found.replace(/[\\\n]/g, '')} `)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

test('in no document a line that destroys something follows a line that may have failed', () => {
  const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));
  const unguarded = pages.flatMap((page) =>
    blocksOf(page)
      .filter(({ text }) => !/^\w+\(\) \{/m.test(text))
      .flatMap(({ text }) =>
        commandsOf(text)
          .slice(1)
          .filter((command) => DESTRUCTIVE.test(command.split('&&')[0] ?? '') && !/^if /.test(command))
          .map((command) => `${page}: ${command}`),
      ),
  );
  expect(unguarded).toEqual([]);
});

test('in a terminal without SECRETS no block says OK, and none writes a secret elsewhere', async () => {
  const bin = await makePrograms(PROGRAMS);
  const elsewhere = await makeFolder();
  for (const SECRETS of ['', join(elsewhere, 'absent')]) {
    const env = { PATH: `${bin}:${process.env['PATH']}`, SECRETS };
    const { stdout, stderr } = spawnSync(
      'sh',
      ['-c', `${textOf('before')}\nput ${elsewhere}/KEY value && ok done`],
      {
        encoding: 'utf8',
        env,
      },
    );
    expect([stdout, stderr]).toEqual([
      '',
      expect.stringMatching(/^FAILED: SECRETS is '.*', which is not the folder/),
    ]);
  }
  expect(readdirSync(elsewhere)).toEqual([]);
});

describe('the command of each way of installing', () => {
  const WAYS = [
    ['crossdock-systemd', 'systemd-run'],
    ['crossdock-compose', 'podman'],
    ['psql-compose', 'podman'],
  ] as const;

  test.each(WAYS)('%s passes arguments, standard input and the exit status', async (name, program) => {
    const bin = await makePrograms({ [program]: 'printf "%s\\n" "$@"; cat; exit 7' });
    const secrets = await makeSecrets({});
    const command = name.startsWith('psql') ? 'psql' : 'crossdock';
    const { status, stdout } = spawnSync('sh', ['-c', `${textOf(name)}\n${command} one "two words"`], {
      encoding: 'utf8',
      input: 'from the terminal',
      env: {
        PATH: `${bin}:${process.env['PATH']}`,
        SECRETS: secrets,
        CROSSDOCK_ENVIRONMENT: 'production',
        CROSSDOCK_VERSION: '1.2.3',
      },
    });
    expect([status, stdout.endsWith('one\ntwo words\nfrom the terminal')]).toEqual([7, true]);
  });

  test('with compose it has the network of the database, the settings, and every secret', async () => {
    const { networks, services } = parse(
      readFileSync(join(projectRoot, 'deploy', 'compose', 'compose.yaml'), 'utf8'),
      { merge: true },
    );
    const text = textOf('crossdock-compose');
    expect(text).toContain(`--network "${networks.data.name}"`);
    expect(services.api.env_file).toBe('../../../${CROSSDOCK_ENVIRONMENT}.env');
    expect(text).toContain('--env-file "../../../$CROSSDOCK_ENVIRONMENT.env"');
    expect(text).toContain('-v "$(cd "$SECRETS" && pwd):/run/secrets:ro"');
    expect(text).toContain(services.api.image.replace(/\{CROSSDOCK_VERSION:.*\}/, 'CROSSDOCK_VERSION'));
  });
});
