import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { endProcesses, makeFolder, removeFolders, run } from '../../support/service/processes.js';
import {
  deployProduction,
  newKeys,
  readState,
  writeSecrets,
  type Deployed,
} from '../../support/staging/deployment-fixture.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { matching } from '../../support/assertions/matching.js';

// The lost server of a restore may be from before a replacement of keys.

const LIMIT_MS = 120_000;

let lost: Deployed;
let restored: DocumentedDatabase;

beforeAll(async () => {
  lost = await deployProduction();
  restored = await documentedDatabase();
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await lost.drop();
  await restored.drop();
  await removeFolders();
}, LIMIT_MS);

/** Makes the report with other keys than those with which the lost server was used. */
async function report(settings: Record<string, string>, ...args: string[]) {
  const keys = newKeys();
  const program = run(
    'src/commands/restore-report.js',
    {
      ...{ APP_ENV: 'production', LOG_LEVEL: 'error', ...settings },
      SECRETS_DIR: await writeSecrets({ ...restored.urls, ...keys }),
    },
    ['--since', '2026-01-01T00:00:00Z', '--out', await makeFolder(), ...args],
  );
  const { code } = await program.ended;
  return { code, output: program.output() };
}

test(
  'a lost server with another LOOKUP_KEY is read, and not changed',
  async () => {
    const before = await readState(lost.owner);
    const result = await report({}, '--lost', lost.urls.DATABASE_OWNER_URL);
    expect(result).toEqual({ code: 2, output: expect.stringMatching(/^No log was given/m) });
    expect(result.output).not.toContain('LOOKUP_KEY');
    expect(await readState(lost.owner)).toBe(before);
  },
  LIMIT_MS,
);

test(
  'a refusal names the URL without its password, and no command that would change the lost server',
  async () => {
    const url = new URL(lost.urls.DATABASE_OWNER_URL);
    const named = `--lost postgres://${url.username}@${url.host}${url.pathname}`;
    const other = await report({ APP_ENV: 'staging' }, '--lost', url.href);
    expect(other).toEqual({
      code: 1,
      output: expect.stringContaining(`${named} is not read: The deployment`),
    });
    expect(other.output).toMatch(/so APP_ENV=staging is refused, .* change nothing in it\.\n$/);
    expect(other.output).not.toMatch(
      matching(
        /anonymise|take-over|rehash/,
        'or run crossdock rehash --replaced-key FILE',
        'npm run anonymise',
        'take-over',
      ),
    );
    const away = await report({}, '--lost', 'postgres://somebody:secret@127.0.0.1:1/none');
    expect(away).toEqual({
      code: 1,
      output: expect.stringMatching(/^--lost postgres:\/\/somebody@127\.0\.0\.1:1\/none: Cannot connect/),
    });
  },
  LIMIT_MS,
);
