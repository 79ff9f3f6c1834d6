import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { projectRoot } from '../../../src/config/project-root.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

// The blocks of docs/deploy.md that install a release and upgrade it, with real files, archives and make-secrets.sh. Only the programs that
// start something are replaced. documented-blocks.test.ts makes each command of them fail.

const page = readFileSync(join(projectRoot, 'docs', 'deploy.md'), 'utf8');

/** Returns the block of a section that contains a text. */
function blockOf(section: string, part: string): string {
  const [, text = ''] = new RegExp(`^## ${section}\n([^]*?)^## `, 'm').exec(page) ?? [];
  const found = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].filter(([, block = '']) => block.includes(part));
  expect([part, found.length]).toEqual([part, 1]);
  return found[0]?.[1] ?? '';
}

let rootFolder: string;

beforeEach(async () => {
  rootFolder = await makeFolder();
  for (const folder of [
    'bin',
    'etc/systemd/system',
    'etc/haproxy',
    'var/lib/crossdock-release',
    'certificate',
  ])
    mkdirSync(join(rootFolder, folder), { recursive: true });
});

afterAll(removeFolders);

function write(path: string, text: string): void {
  mkdirSync(dirname(join(rootFolder, path)), { recursive: true });
  writeFileSync(join(rootFolder, path), text);
  chmodSync(join(rootFolder, path), 0o755);
}

const read = (path: string) => readFileSync(join(rootFolder, path), 'utf8');

/** Replaces a program by one that records its call and its folder. */
const stub = (name: string, script = '') =>
  write(`bin/${name}`, `#!/bin/sh\necho "${name} $* in $PWD" >>${rootFolder}/calls\n${script}\n`);

const callsOf = (name: string) =>
  (existsSync(join(rootFolder, 'calls')) ? read('calls').trim().split('\n') : []).filter((call) =>
    call.startsWith(`${name} `),
  );

/** Makes the archive of a release: the real `deploy/`, whose files name the version. */
function release(version: string, crossdock = 'exit 0'): void {
  const name = `crossdock-${version}`;
  cpSync(join(projectRoot, 'deploy'), join(rootFolder, name, 'deploy'), { recursive: true });
  for (const file of ['systemd/crossdock-worker.service', 'proxy/10-frontend.cfg', 'postgres/pgbouncer.ini'])
    writeFileSync(join(rootFolder, name, 'deploy', file), `of ${version}`);
  write(`${name}/bin/crossdock`, `#!/bin/sh\n${crossdock}\n`);
  const archive = join(rootFolder, 'var', 'lib', 'crossdock-release', `${name}.tar.gz`);
  expect(spawnSync('tar', ['-czf', archive, '-C', rootFolder, name]).status).toBe(0);
  renameSync(join(rootFolder, name), join(rootFolder, `made-${version}`));
}

/** Pastes blocks into one terminal, whose variables and folder stay from block to block. Returns what each has printed last. */
function paste(...blocks: string[]): string[] {
  const text = blocks
    .map((block) => block.replace(/(?<![\w./:@-])\/(opt|etc|var)\//g, `${rootFolder}/$1/`))
    .map((block) => block.replaceAll(/^(CERTIFICATE|PRIVATE_KEY)=.*\//gm, `$1=${rootFolder}/certificate/`))
    .join('\necho ---\n');
  const { stdout } = spawnSync('/bin/sh', ['-c', `exec 2>&1\n${text}\n`], {
    encoding: 'utf8',
    cwd: rootFolder,
    env: { PATH: `${rootFolder}/bin:${process.env['PATH']}` },
  });
  return stdout.split('---\n').map((printed) => printed.trim().split('\n').at(-1) ?? '');
}

describe('with compose', () => {
  const COMPOSE = 'One machine with compose';
  const install = () => [blockOf(COMPOSE, 'make-secrets.sh'), blockOf(COMPOSE, 'up -d')];
  const upgrade = () => blockOf('Upgrade', 'podman load');
  const FOLDER = 'opt/crossdock/crossdock-1.1.0/deploy/compose';

  beforeEach(() => {
    release('1.1.0');
    stub('podman');
    stub('podman-compose');
    write('certificate/fullchain.pem', 'chain\n');
    write('certificate/privkey.pem', 'key\n');
  });

  /** Returns the files that compose.yaml of a release names and that do not exist. */
  function missing(version: string): string[] {
    const folder = join(rootFolder, 'opt', 'crossdock', `crossdock-${version}`, 'deploy', 'compose');
    const { secrets, services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true });
    return [...Object.values<{ file: string }>(secrets).map(({ file }) => file), services.api.env_file]
      .map((file) => resolve(folder, file.replace('${CROSSDOCK_ENVIRONMENT}', 'staging')))
      .filter((file) => !existsSync(file));
  }

  test('a first installation starts with every file that compose.yaml names, and can be pasted again', () => {
    const printed = paste(...install());
    expect(printed).toEqual([
      expect.stringMatching(/^OK: the release and the secrets/),
      'OK: the containers are started',
    ]);
    expect(missing('1.1.0')).toEqual([]);
    expect(read('opt/crossdock/secrets-staging/tls.pem')).toBe('chain\nkey\n');
    const key = read('opt/crossdock/secrets-staging/LOOKUP_KEY');
    writeFileSync(join(rootFolder, 'opt/crossdock/staging.env'), 'changed');
    write('certificate/privkey.pem', 'another key\n');
    // In the same terminal, so in the folder to which the first paste has changed.
    expect(paste(...install(), ...install()).map((line) => line.slice(0, 3))).toEqual(Array(4).fill('OK:'));
    expect(read('opt/crossdock/secrets-staging/LOOKUP_KEY')).toBe(key);
    expect(read('opt/crossdock/staging.env')).toBe('changed');
    expect(read('opt/crossdock/secrets-staging/tls.pem')).toBe('chain\nanother key\n');
    expect(callsOf('podman-compose')).toEqual(
      Array(3).fill(`podman-compose -p crossdock-staging up -d in ${join(rootFolder, FOLDER)}`),
    );
  });

  test('a certificate that is missing ends the block, and the next paste succeeds', () => {
    renameSync(join(rootFolder, 'certificate', 'privkey.pem'), join(rootFolder, 'privkey.pem'));
    expect(paste(...install().slice(0, 1))).toEqual([expect.stringMatching(/^FAILED: /)]);
    expect(existsSync(join(rootFolder, 'opt/crossdock/secrets-staging/tls.pem'))).toBe(false);
    renameSync(join(rootFolder, 'privkey.pem'), join(rootFolder, 'certificate', 'privkey.pem'));
    expect(paste(...install())).toEqual([expect.stringMatching(/^OK: /), expect.stringMatching(/^OK: /)]);
    expect(missing('1.1.0')).toEqual([]);
  });

  test('an upgrade uses the files of the new release, and the settings and secrets of the deployment', () => {
    release('1.2.0');
    paste(...install());
    writeFileSync(join(rootFolder, 'opt/crossdock/staging.env'), 'changed');
    const key = read('opt/crossdock/secrets-staging/LOOKUP_KEY');
    expect(paste('export CROSSDOCK_ENVIRONMENT=staging', upgrade(), upgrade()).slice(1)).toEqual(
      Array(2).fill('OK: the containers of the new release are started'),
    );
    const folder = join(rootFolder, 'opt/crossdock/crossdock-1.2.0/deploy/compose');
    expect(callsOf('podman-compose').at(-1)).toBe(
      `podman-compose -p crossdock-staging up -d --force-recreate in ${folder}`,
    );
    expect(missing('1.2.0')).toEqual([]);
    expect(readFileSync(join(folder, '../postgres/pgbouncer.ini'), 'utf8')).toBe('of 1.2.0');
    expect([read('opt/crossdock/staging.env'), read('opt/crossdock/secrets-staging/LOOKUP_KEY')]).toEqual([
      'changed',
      key,
    ]);
  });

  test('an upgrade without the settings or the secrets of the deployment starts nothing', () => {
    release('1.2.0');
    expect(paste('export CROSSDOCK_ENVIRONMENT=staging', upgrade())[1]).toMatch(
      /^FAILED: .*must be in .*\/opt\/crossdock/,
    );
    expect([callsOf('podman'), callsOf('podman-compose')]).toEqual([[], []]);
  });
});

describe('with systemd', () => {
  const SYSTEMD = 'Machines with systemd';
  const upgrade = () => blockOf('Upgrade', 'PREVIOUS=');
  const proxy = () => blockOf('Upgrade', 'haproxy -c');
  const rollback = () => blockOf('Rollback', 'VERSION=');

  const systemctl = () => callsOf('systemctl').map((call) => call.replace(/^systemctl (.*) in .*$/, '$1'));
  const installed = () => ({
    current: readlinkSync(join(rootFolder, 'opt/crossdock/current')),
    unit: read('etc/systemd/system/crossdock-worker.service'),
    proxy: existsSync(join(rootFolder, 'etc/haproxy/crossdock/10-frontend.cfg'))
      ? read('etc/haproxy/crossdock/10-frontend.cfg')
      : undefined,
  });

  beforeEach(() => {
    release('1.1.0');
    // The unit executes the migrations of the release that is current.
    stub(
      'systemctl',
      `case "$*" in 'start crossdock-migrate') exec ${rootFolder}/opt/crossdock/current/bin/crossdock migrate;; esac`,
    );
    for (const name of ['sleep', 'curl', 'haproxy']) stub(name);
    const first = [blockOf(SYSTEMD, 'make-secrets.sh'), blockOf(SYSTEMD, 'enable --now')];
    // Twice in one terminal.
    expect(paste(...first, ...first).map((line) => line.slice(0, 3))).toEqual(Array(4).fill('OK:'));
    expect(installed()).toEqual({ current: 'crossdock-1.1.0', unit: 'of 1.1.0', proxy: undefined });
    writeFileSync(join(rootFolder, 'calls'), '');
  });

  test('an upgrade whose migration fails restarts nothing, and the old release and its units are back', () => {
    release('1.2.0', 'echo "ERROR: column x does not exist" >&2; exit 1');
    expect(paste(upgrade())).toEqual([expect.stringMatching(/^FAILED: /)]);
    expect(systemctl()).toEqual(['daemon-reload', 'start crossdock-migrate', 'daemon-reload']);
    expect(installed()).toMatchObject({ current: 'crossdock-1.1.0', unit: 'of 1.1.0' });
  });

  test('an upgrade installs the units, restarts one instance after the other, and then installs the files of the proxy', () => {
    release('1.2.0', 'test "$1" = migrate');
    expect(paste(upgrade())).toEqual(['OK: upgraded']);
    expect(systemctl()).toEqual([
      'daemon-reload',
      'start crossdock-migrate',
      'restart crossdock-api@3001',
      'restart crossdock-api@3002 crossdock-worker',
    ]);
    expect(installed()).toEqual({ current: 'crossdock-1.2.0', unit: 'of 1.2.0', proxy: undefined });
    expect(paste(proxy())).toEqual(['OK: haproxy has the files of the release']);
    expect(installed().proxy).toBe('of 1.2.0');
    expect(systemctl().at(-1)).toBe('reload haproxy');
  });

  test('a rollback installs the units and the files of the proxy of the old release', () => {
    release('1.2.0', 'test "$1" = migrate');
    paste(upgrade(), proxy());
    writeFileSync(join(rootFolder, 'calls'), '');
    expect(paste(rollback())).toEqual(['OK: the old release serves']);
    expect(installed()).toEqual({ current: 'crossdock-1.1.0', unit: 'of 1.1.0', proxy: 'of 1.1.0' });
    expect(systemctl()).toEqual([
      'reload haproxy',
      'daemon-reload',
      'restart crossdock-api@3001',
      'restart crossdock-api@3002 crossdock-worker',
    ]);
  });
});
