import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  checkReadableSecrets,
  checkWritableSecrets,
} from '../../../src/startup/shared-checks/secret-files.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

// Who may write and read the files of secrets. start-up/unsafe-settings.test.ts has the lines of a start and of the doctor.

let folder: string;

beforeEach(async () => {
  folder = join(await makeFolder(), 'secrets');
  mkdirSync(folder);
  for (const name of ['LOOKUP_KEY', 'TOKEN_KEYS', 'notes']) writeFileSync(join(folder, name), 'secret');
  setModes(0o700, 0o444);
});

afterAll(removeFolders);

/** Sets the modes of the folder and of LOOKUP_KEY. chmod, because the umask does not apply to it. */
function setModes(ofFolder: number, ofKey: number): void {
  chmodSync(folder, ofFolder);
  chmodSync(join(folder, 'LOOKUP_KEY'), ofKey);
}

type Settings = Parameters<typeof checkWritableSecrets>[0];

const settings = (): Settings => ({ appEnv: 'production', secretsDir: folder, tls: undefined });

const linesOf = async (check: typeof checkWritableSecrets, given = settings()) =>
  (await check(given)).map((finding) =>
    [finding.level, finding.message, finding.level === 'ok' ? '' : finding.remedy].join(' '),
  );

describe('files and folders that everybody may write', () => {
  test('are a warning with the path, the mode and the command that cures it', async () => {
    setModes(0o777, 0o666);
    const key = join(folder, 'LOOKUP_KEY');
    expect(await linesOf(checkWritableSecrets)).toEqual([
      `warning Everybody on this machine may write ${folder} (mode 0777), ${key} (mode 0666), and so choose the secrets of the service. ` +
        `Run chmod o-w ${folder} ${key}, and find out whether somebody has changed a secret.`,
    ]);
  });

  test('are found behind symbolic links, above the folder, and at TLS_KEY_FILE', async () => {
    const elsewhere = join(await makeFolder(), 'else where');
    mkdirSync(join(elsewhere, 'keys'), { recursive: true });
    writeFileSync(join(elsewhere, 'keys', 'real'), 'secret');
    symlinkSync(join(elsewhere, 'keys', 'real'), join(folder, 'ENCRYPTION_KEYS'));
    const keyFile = join(await makeFolder(), 'key.pem');
    writeFileSync(keyFile, 'key');
    chmodSync(elsewhere, 0o777);
    chmodSync(keyFile, 0o602);
    const [line, ...more] = await linesOf(checkWritableSecrets, {
      ...settings(),
      tls: { certFile: keyFile, keyFile },
    });
    expect(more).toEqual([]);
    expect(line).toContain(`may write ${keyFile} (mode 0602), ${elsewhere} (mode 0777), `);
    expect(line).toContain(`Run chmod o-w ${keyFile} '${elsewhere}', `);
  });

  test('are no warning in a sticky folder, as Kubernetes mounts secrets', async () => {
    const version = join(folder, '..2026_12_01');
    mkdirSync(version);
    writeFileSync(join(version, 'ENCRYPTION_KEYS'), 'secret');
    symlinkSync('..2026_12_01', join(folder, '..data'));
    symlinkSync(join('..data', 'ENCRYPTION_KEYS'), join(folder, 'ENCRYPTION_KEYS'));
    chmodSync(join(version, 'ENCRYPTION_KEYS'), 0o440);
    chmodSync(join(folder, 'TOKEN_KEYS'), 0o440);
    setModes(0o3777, 0o440);
    expect(await linesOf(checkWritableSecrets)).toEqual([]);
    expect(await linesOf(checkReadableSecrets)).toEqual([]);
  });

  test('are no warning in development, and files that are no secrets never', async () => {
    chmodSync(join(folder, 'notes'), 0o666);
    expect(await linesOf(checkWritableSecrets)).toEqual([]);
    setModes(0o777, 0o666);
    expect(await linesOf(checkWritableSecrets, { ...settings(), appEnv: 'development' })).toEqual([]);
  });
});

describe('files that a group may write', () => {
  test('are no warning if it is a group of the process, or of the user alone', async () => {
    setModes(0o770, 0o660);
    expect(await linesOf(checkWritableSecrets)).toEqual([]);
  });

  (process.getuid?.() === 0 ? test : test.skip)('are a warning if it is another group', async () => {
    const key = join(folder, 'LOOKUP_KEY');
    chownSync(key, 0, 54_321);
    chownSync(folder, 0, 54_321);
    setModes(0o770, 0o660);
    expect(await linesOf(checkWritableSecrets)).toEqual([
      `warning Accounts of another group than that of this process may write ${folder} (mode 0770), ${key} (mode 0660), and so choose the secrets of the service. ` +
        `Run chmod g-w ${folder} ${key}, and find out whether somebody has changed a secret.`,
    ]);
  });
});

describe('files that everybody may read', () => {
  test('are no warning while nobody else may enter their folder, as with make-secrets.sh', async () => {
    expect(await linesOf(checkReadableSecrets)).toEqual([]);
  });

  test('are a warning in a folder that everybody may enter', async () => {
    chmodSync(join(folder, '..'), 0o755);
    setModes(0o755, 0o444);
    chmodSync(join(folder, 'TOKEN_KEYS'), 0o400);
    expect(await linesOf(checkReadableSecrets)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^warning Everybody on this machine may read ${folder}/LOOKUP_KEY \\(mode 0444\\)\\. Run chmod o-r `,
        ),
      ),
    ]);
  });
});
