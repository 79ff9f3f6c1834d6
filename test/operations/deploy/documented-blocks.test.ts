import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

// The shell blocks of the operators' pages, pasted into a terminal: no `set -e`. Every program is replaced by one that records its call,
// and fails if it is its turn. docs/leaked-secrets.md and docs/restore.md have their own tests, secrets/blocks.test.ts and restore/blocks.test.ts.

const PAGES = ['deploy.md', 'operations.md'];

/** Blocks of several lines that are not pasted as a whole. By a text that only they contain. */
const EXEMPT: Record<string, string> = {
  'tenant-move --slug miami --undo': 'four alternatives, one per line',
};

/** What a block does after a failure, to undo what it has changed. */
const UNDONE: Record<string, RegExp> = {
  'PREVIOUS=':
    /^(ln -sfn \S* \S*\/opt\/crossdock\/current|cp \S*\/current\/deploy\/systemd\/\* \S*\/etc\/systemd\/system\/|systemctl daemon-reload)$/,
};

/** The files that a block needs of an installation. */
const NEEDED: Record<string, string[]> = {
  'CROSSDOCK_VERSION=1.2.0': ['opt/crossdock/secrets-staging/userlist.txt', 'opt/crossdock/staging.env'],
  'VERSION=1.1.0\ntest -e': ['opt/crossdock/crossdock-1.1.0/bin/crossdock'],
};

type Block = { title: string; text: string };

const blocksOf = (page: string): Block[] =>
  [
    ...readFileSync(join(projectRoot, 'docs', page), 'utf8').matchAll(
      /^ *```(?:sh|bash).*\n([^]*?)^ *```$/gm,
    ),
  ].map(([, text = '']) => ({ title: `${page}: ${text.split('\n')[0]}`, text }));

/** Whether a block has several commands: several lines, or several commands in one. */
const isChain = ({ text }: Block): boolean => {
  const commands = text.replaceAll('\\\n', ' ').replace(/ +# .*$/gm, '');
  return commands.trim().includes('\n') || / (&&|\|\|) |; /.test(commands);
};

const BLOCKS = PAGES.flatMap(blocksOf).filter(
  (block) => isChain(block) && !Object.keys(EXEMPT).some((part) => block.text.includes(part)),
);

afterAll(removeFolders);

const PROGRAMS =
  'podman podman-compose docker tar sh cat chmod chown cp mv rm ln mkdir touch install systemctl timeout sleep curl haproxy kubectl helm skopeo psql pg_restore pg_basebackup pg_dump pg_dumpall runuser readlink date crossdock npm grep';

type Run = { status: number | null; lines: string[]; calls: string[] };

/** Pastes a block into an empty machine. @param failing the number of the call that fails; none by default */
async function paste({ text }: Block, failing = 0): Promise<Run> {
  const root = await makeFolder();
  const bin = `${root}/bin`;
  const calls = `${root}/calls`;
  const write = (path: string, script: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, script);
    chmodSync(path, 0o755);
  };
  writeFileSync(calls, '');
  const recorder = (name: string) =>
    `#!/bin/sh\necho "${name} $*" >>${calls}\ntest "$(/usr/bin/wc -l <${calls})" -ne ${failing}\n`;
  for (const name of PROGRAMS.split(' ')) write(join(bin, name), recorder(name));
  // The copy of a data folder of PostgreSQL has files.
  const copies = `for to; do :; done; case $* in '-a '*) /bin/mkdir -p "$to/pg_wal"; : >"$to/pg_wal/00000001";; esac`;
  write(join(bin, 'cp'), `${recorder('cp')}result=$?; ${copies}; exit $result\n`);
  // What a block creates itself.
  const absent = [...text.matchAll(/test ! -e (\S+) && cp/g)].map(([, path = '']) => path);
  const isAbsent = (path: string) =>
    absent.some((each) => path === `${root}${each}` || path.startsWith(`${root}${each}/`));
  // Absolute paths lead into the folder, whose own folders exist.
  const moved = text.replace(
    /(?<![\w./:@-])\/((?:opt|etc|var|usr|backup)\/[\w./*-]+)/g,
    (_path, rest: string) => {
      const folder = join(root, dirname(rest));
      if (!isAbsent(folder)) mkdirSync(folder, { recursive: true });
      return join(root, rest);
    },
  );
  for (const [, program = ''] of moved.matchAll(/([^\s"]*\/bin\/\w+)/g)) write(program, recorder(program));
  const home = `${root}/home`;
  mkdirSync(home, { recursive: true });
  // The folders that the release and make-secrets.sh create: both programs are replaced.
  mkdirSync(`${root}/opt/crossdock/secrets-staging`, { recursive: true });
  const values = new Map([...moved.matchAll(/\b(\w+)=([\w./-]+)/g)].map(([, name, value]) => [name, value]));
  for (const [, folder = ''] of moved.matchAll(/\bcd ("[^"]+"|[^\s)]+)/g)) {
    const path = folder.replaceAll('"', '').replace(/\$(\w+)/g, (_all, name) => values.get(name) ?? '');
    if (!isAbsent(path)) mkdirSync(join(home, relative(home, path)), { recursive: true });
  }
  for (const [part, files] of Object.entries(NEEDED))
    if (text.includes(part)) for (const file of files) write(join(root, file), 'present');
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', `${moved}\n`], {
    encoding: 'utf8',
    cwd: home,
    env: { PATH: bin, CROSSDOCK_ENVIRONMENT: 'staging' },
  });
  const lines = `${stdout}${stderr}`.trim().split('\n');
  return { status, lines, calls: readFileSync(calls, 'utf8').trim().split('\n') };
}

test('the pages have the blocks that are tested and exempt', () => {
  expect(BLOCKS.length).toBeGreaterThanOrEqual(4);
  const all = PAGES.flatMap(blocksOf).map(({ text }) => text);
  expect(Object.keys(EXEMPT).filter((part) => !all.some((text) => text.includes(part)))).toEqual([]);
});

describe.each(BLOCKS)('the block $title', (block) => {
  test('ends with OK if everything works', async () => {
    const { lines } = await paste(block);
    expect(lines.at(-1)).toMatch(/^OK: /);
  });

  test('ends with FAILED whichever command fails, and executes none after it', async () => {
    const { calls: all } = await paste(block);
    const [, undone] = Object.entries(UNDONE).find(([part]) => block.text.includes(part)) ?? [];
    for (let failing = 1; failing <= all.length; failing += 1) {
      const { lines, calls } = await paste(block, failing);
      const later = calls.slice(failing).filter((call) => !undone?.test(call));
      expect([failing, all[failing - 1]?.split(' ')[0], lines.at(-1), later]).toEqual([
        failing,
        expect.any(String),
        expect.stringMatching(/^FAILED: /),
        [],
      ]);
    }
  });
});

describe.each([
  ['Machines with systemd', 'systemctl start crossdock-migrate', '/etc/crossdock/secrets'],
  ['Kubernetes with Helm', 'helm upgrade --install', 'secrets'],
])('the section "%s"', (section, migrates, folder) => {
  const page = readFileSync(join(projectRoot, 'docs', 'deploy.md'), 'utf8');
  const [, text = ''] = new RegExp(`^## ${section}\n([^]*?)^## `, 'm').exec(page) ?? [];

  test('creates the secrets, then the database with their passwords, migrates, and takes createrole from the owner', () => {
    const steps = [
      /make-secrets\.sh \S+ database/,
      /-f \S*deploy\/postgres\/roles\.sql/,
      new RegExp(migrates),
      /^psql .* -c 'alter role crossdock_owner nocreaterole' &&$/m,
    ];
    const places = steps.map((step) => text.search(step));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(text).toContain(`$(cat ${folder}/OWNER_PASSWORD)`);
  });

  test('keeps the secrets that exist if its block is pasted again, and replaces no incomplete folder', async () => {
    const home = await makeFolder();
    const line = (/^ *(if test -s \S*secrets\/userlist\.txt.* fi) &&$/m.exec(text)?.[1] ?? '')
      .replaceAll('/etc/crossdock/secrets', 'secrets')
      .replace(/\S*make-secrets\.sh/, join(projectRoot, 'deploy', 'make-secrets.sh'));
    const run = () => spawnSync('/bin/sh', ['-c', line], { encoding: 'utf8', cwd: home });
    const key = () => readFileSync(join(home, 'secrets', 'LOOKUP_KEY'), 'utf8');
    expect(run()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Created secrets/) });
    const first = key();
    expect(run()).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/secrets exists already, and stays/),
    });
    expect(key()).toBe(first);
    rmSync(join(home, 'secrets', 'userlist.txt'));
    expect(run().status).not.toBe(0);
    expect(key()).toBe(first);
  });
});
