import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { PROGRAMS } from '../../../scripts/build.mjs';
import {
  endProcesses,
  freePort,
  makeFolder,
  removeFolders,
  run,
  until,
} from '../../support/service/processes.js';
import {
  deployProduction,
  DEPLOYMENT,
  newKeys,
  readState,
  writeSecrets,
  type Deployed,
} from '../../support/staging/deployment-fixture.js';

// The table of docs/deploy.md, "One deployment per database": each command in each situation, as a real process.

const LIMIT_MS = 120_000;
const SITUATIONS = ['own settings', 'another APP_ENV', 'APP_ENV=development', 'another LOOKUP_KEY'] as const;
type Situation = (typeof SITUATIONS)[number];

const page = readFileSync(join(projectRoot, 'docs', 'deploy.md'), 'utf8');
const [, section = ''] = page.split('## One deployment per database\n');
const TABLE = [...section.matchAll(/^\| `([a-z-]+)` +\|(.*)\|$/gm)].map(([, command = '', cells = '']) => ({
  command,
  cells: cells.split('|').map((cell) => cell.trim()),
}));

let production: Deployed;
let out: string;

beforeAll(async () => {
  production = await deployProduction();
  out = await makeFolder();
}, LIMIT_MS);

afterEach(endProcesses, LIMIT_MS);

afterAll(async () => {
  await production.drop();
  await removeFolders();
}, LIMIT_MS);

const FILES: Record<string, string> = { serve: 'src/main.js', worker: 'src/worker.js' };

/** The arguments with which a command would change something, or read what belongs to another deployment. */
const ARGUMENTS: Record<string, () => string[]> = {
  'tenant-create': () => ['--slug', 'new', '--name', 'New', '--host', 'new.example.com'],
  'tenant-move': () => ['--slug', 'miami', '--status'],
  'reset-admin': () => ['--tenant', 'miami'],
  outbound: () => ['--pause', 'a test'],
  rehash: () => ['--drop-backup-codes'],
  'restore-report': () => ['--since', '2026-01-01T00:00:00Z', '--out', out],
  'take-over': () => ['--from', DEPLOYMENT, '--database', nameOf(production)],
};

const nameOf = ({ database }: Deployed) => new URL(database.ownerUrl).pathname.slice(1);

/** Only a server has the settings of serving. The others get a folder of make-secrets.sh and APP_ENV. */
async function settingsOf(command: string, situation: Situation): Promise<Record<string, string>> {
  const other = newKeys();
  const secrets = {
    ...production.urls,
    ...production.keys,
    ...(situation === 'another LOOKUP_KEY' ? { LOOKUP_KEY: other.LOOKUP_KEY } : {}),
  };
  const environment = {
    APP_ENV:
      { 'another APP_ENV': 'staging', 'APP_ENV=development': 'development' }[situation as string] ??
      'production',
    LOG_LEVEL: 'error',
  };
  if (command in FILES || command === 'demo-load')
    return {
      ...environment,
      ...secrets,
      ...(situation === 'own settings' ? { DEPLOYMENT } : {}),
      // Without them a start prints warnings.
      ...{ SES_REGION: 'eu-west-1', MAIL_FROM: 'gateway@example.com', RATE_LIMIT_PER_MINUTE: '600' },
      TRUST_PROXY: '127.0.0.1',
      PORT: String(await freePort()),
    };
  return {
    ...environment,
    SECRETS_DIR: await writeSecrets(secrets),
    DATABASE_OWNER_CELLS: `b=${production.urls.DATABASE_OWNER_URL}`,
  };
}

async function start(command: string, situation: Situation) {
  // Only a clone has it.
  const ofClone = command === 'demo-load' ? 'scripts/develop/demo-load.js' : undefined;
  const file = FILES[command] ?? ofClone ?? `src/commands/${command}.js`;
  return run(file, await settingsOf(command, situation), ARGUMENTS[command]?.() ?? []);
}

const REFUSAL =
  /^The deployment crossdock-production \(APP_ENV=production\) has used this database[^\n]*(refused|another LOOKUP_KEY|lost)[^\n]*\n$/;

describe('the table of docs/deploy.md', () => {
  test('has the situations of this test, and every command of a release that opens a database', () => {
    const [head = ''] = /^\| Command .*$/m.exec(section) ?? [];
    expect(
      head
        .split('|')
        .slice(2, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    ).toEqual([...SITUATIONS]);
    // serve starts child, and checks the database before.
    const withoutDatabase = ['health', 'print-bridge', 'doctor', 'child'];
    const commands = PROGRAMS.filter((path) => !/^src\/(main|worker)\.ts$/.test(path))
      .map((path) => basename(path, '.ts'))
      .filter((name) => !withoutDatabase.includes(name));
    const documented = TABLE.map(({ command }) => command);
    expect(['serve', 'worker', ...commands].filter((name) => !documented.includes(name))).toEqual([]);
  });

  const cases = TABLE.flatMap(({ command, cells }) =>
    SITUATIONS.map((situation, index) => ({ command, situation, expected: cells[index] ?? '' })),
  );

  test.each(cases.filter(({ expected }) => expected.startsWith('refused')))(
    '$command with $situation is refused with one line, and changes nothing',
    async ({ command, situation }) => {
      const before = await readState(production.owner);
      const refused = await start(command, situation);
      const { code } = await refused.ended;
      expect([code, refused.output()]).toEqual([1, expect.stringMatching(REFUSAL)]);
      expect(await readState(production.owner)).toBe(before);
    },
    LIMIT_MS,
  );

  test.each(cases.filter(({ expected }) => expected === 'runs'))(
    '$command with $situation runs, with no setting of a server unless it is one',
    async ({ command, situation }) => {
      const running = await start(command, situation);
      if (!(command in FILES)) {
        const { code } = await running.ended;
        // A report without a log proves nothing.
        const status = command === 'restore-report' ? 2 : 0;
        expect([code, running.output()]).toEqual([
          status,
          expect.not.stringContaining('has used this database'),
        ]);
        return;
      }
      const seen = () => readSeen(production);
      const first = await seen();
      await until(async () => (await seen()) > first || running.child.exitCode !== null);
      expect([running.child.exitCode, running.output()]).toEqual([null, '']);
    },
    LIMIT_MS,
  );

  test('says nothing else than "runs", "refused" and why', () => {
    expect(cases).toHaveLength(TABLE.length * SITUATIONS.length);
    expect(
      cases.filter(({ expected }) => !/^(runs|refused.*|no database.*|never.*)$/.test(expected)),
    ).toEqual([]);
  });
});

async function readSeen({ owner }: Deployed): Promise<number> {
  const { rows } = await owner.query<{ seen: number }>(
    'select max(extract(epoch from seen_at))::float8 as seen from installation.deployments where fingerprints <> $1',
    ['{}'],
  );
  return rows[0]?.seen ?? 0;
}
