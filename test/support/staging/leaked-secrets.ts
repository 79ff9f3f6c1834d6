import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEVELOPMENT_SECRETS } from '../../../src/config/settings.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { endProcesses, makeFolder, startReplica, type Replica } from '../service/processes.js';
import { documentedDatabase, type DocumentedDatabase } from './documented-database.js';

const page = readFileSync(join(projectRoot, 'docs', 'leaked-secrets.md'), 'utf8');

/** The blocks of docs/leaked-secrets.md by their names. */
export const BLOCKS = new Map(
  [...page.matchAll(/^```sh name=(\S+)\n(.*?)^```$/gms)].map(([, name = '', text = '']) => [name, text]),
);

/** The variables that blocks set for later ones. */
const VARIABLES = [
  'TOKEN',
  'LEAKED_TOKEN',
  'LEAKED_KEYS',
  'NEWEST_KEY',
  'PROVED_KEY',
  'NEW_API_KEY',
  'NEWEST',
  'MEANT',
  'LEAKED_URL',
  'LEAKED_OWNER_URL',
  'CHANGED_USER',
  'SEARCHED_USER',
];

/** What a block printed, and its exit status. */
export type Outcome = { status: number | null; output: string };

/** A service with its folder of secrets, and a terminal for the blocks. */
export type Installation = {
  database: DocumentedDatabase;
  secrets: string;
  replica(): Replica;
  /** Stops the service, runs `meanwhile`, and starts it again. */
  restart(meanwhile?: () => unknown): Promise<void>;
  /**
   * Pastes blocks into the terminal.
   *
   * @param failing a program that fails meanwhile
   */
  paste(names: string[], given?: Record<string, string>, failing?: string): Outcome;
  /** Opens another terminal, which has no variable of a block. */
  openTerminal(): void;
  close(): Promise<void>;
};

/** Starts a service with the demo data, whose secrets are files. */
export async function openInstallation(): Promise<Installation> {
  const database = await documentedDatabase({ demo: true });
  const secrets = await makeFolder();
  const files = { ...DEVELOPMENT_SECRETS, ...database.urls };
  for (const [name, value] of Object.entries(files)) writeFileSync(join(secrets, name), `${value}\n`);
  const start = (port?: string) =>
    startReplica({
      APP_ENV: 'development',
      SECRETS_DIR: secrets,
      RUN_WORKER: 'false',
      ...(port ? { PORT: port } : {}),
    });
  let replica = await start();
  const terminal = await makeFolder();
  const state = join(terminal, 'state');
  writeFileSync(state, '');
  return {
    database,
    secrets,
    replica: () => replica,
    async restart(meanwhile = () => {}) {
      const { port } = new URL(replica.url);
      await replica.stop();
      meanwhile();
      replica = await start(port);
    },
    paste(names, given = {}, failing) {
      const path = [join(projectRoot, 'bin'), process.env['PATH'] ?? ''];
      if (failing !== undefined) path.unshift(makeFailing(terminal, failing));
      return pasteBlocks(names, state, {
        PATH: path.join(':'),
        HOME: secrets,
        APP_ENV: 'development',
        SECRETS: secrets,
        SECRETS_DIR: secrets,
        SUPERUSER_URL: database.ownerUrl,
        API: `${replica.url}/api`,
        ADMIN: 'admin',
        PASSWORD: DEMO.password,
        COURIER_ID: DEMO.couriers.IEX,
        COURIER_KEY: DEMO.apiKeys.IEX,
        ...given,
      });
    },
    openTerminal() {
      writeFileSync(state, '');
    },
    async close() {
      await endProcesses();
      await database.drop();
    },
  };
}

/** Runs blocks with the variables that earlier ones have set, and stores theirs. The exit status is 1 if one of the blocks fails. */
function pasteBlocks(names: string[], state: string, env: Record<string, string>): Outcome {
  const texts = ['before', ...names].map((name) => BLOCKS.get(name) ?? `echo no block ${name} >&2; false\n`);
  const keep = VARIABLES.map((name) => `printf "${name}='%s'\\n" "\${${name}:-}"`).join('\n');
  const script = [
    '. "$STATE"',
    'PASTED=0',
    // The first block also prints OK, which is not that of the others.
    ...texts.map((text, index) => `{\n${text}}${index === 0 ? ' >/dev/null' : ''}\ntest $? = 0 || PASTED=1`),
    `{\n${keep}\n} >"$STATE"`,
    'exit $PASTED',
  ];
  const { status, stdout, stderr } = spawnSync('sh', ['-uc', script.join('\n')], {
    encoding: 'utf8',
    env: { ...env, STATE: state },
  });
  return { status, output: `${stdout}${stderr}` };
}

/** Returns a folder in which one program fails. */
function makeFailing(terminal: string, program: string): string {
  const folder = join(terminal, program);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, program), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  return folder;
}
