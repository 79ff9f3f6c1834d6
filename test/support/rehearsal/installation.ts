import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { developmentConfig } from '../staging/development.js';
import { openSecrets, type Secrets } from '../../../src/platform/access/secrets.js';
import { startReceiver, type Receiver } from '../receivers/receiver.js';
import { setEndpoints } from '../receivers/webhooks.js';
import { logIn } from '../service/client.js';
import type { OwnServer } from '../service/postgres.js';
import { freePort, runProgram, statusOf, until, type Ending, type Running } from '../service/processes.js';
import { REHEARSAL, replaceCredentials } from './credentials.js';
import { startProxy, type Proxy } from './proxy.js';

export const KEYS = {
  TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
  ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
  LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
};

/** Settings of a staging deployment behind a proxy, whose webhooks may reach a receiver on this machine. */
const SETTINGS = {
  ...KEYS,
  APP_ENV: 'staging',
  TRUST_PROXY: '127.0.0.1',
  RUN_WORKER: 'false',
  LOG_LEVEL: 'warn',
  OUTBOUND_ALLOW_LOOPBACK: 'true',
  // Staging calls no other hosts. Releases before this setting ignore it.
  OUTBOUND_HOSTS: '127.0.0.1',
  OUTBOUND_REQUESTS_PER_SECOND: '100000',
  WORKER_HEARTBEAT_SECONDS: '2',
  // A courier whose system was away is asked again at once.
  WEBHOOK_RETRY_SECONDS: Array(20).fill('2').join(','),
};

const READY_LIMIT_MS = 60_000;

/** What an installation needs of its server. */
export type DatabaseServer = Pick<OwnServer, 'urlOf' | 'query' | 'crash' | 'stop' | 'cluster'>;

/** Two replicas of the API behind a proxy, a worker, and a courier's receiver of webhooks, on one database. */
export type Installation = {
  server: DatabaseServer;
  owner: pg.Pool;
  secrets: Secrets;
  proxy: Proxy;
  receiver: Receiver;
  replicas: Replica[];
  worker: Running;
  token: string;
  /** Runs a program of a version with the settings of this installation and the owner's connection. */
  command(version: string, program: string, args?: string[], env?: Record<string, string>): Running;
  startReplica(version: string, port: number): Promise<Replica | undefined>;
  /** @param env settings that differ from those of the installation */
  startWorker(version: string, env?: Record<string, string>): Promise<Running>;
  stop(): Promise<void>;
};

type Replica = Running & { port: number };

/** The service's login in the database. */
export const LOGIN = { user: 'rehearsal_login', password: randomBytes(16).toString('hex') };
export const DATABASE = 'crossdock';

/** Stops a process as a service manager does. */
export async function drain({ child, ended }: Running): Promise<Ending> {
  child.kill('SIGTERM');
  return ended;
}

/** Creates the service's login on a server with a migrated database. Returns the URL of this login. */
export async function addLogin(server: DatabaseServer): Promise<string> {
  await server.query(`create role ${LOGIN.user} login in role crossdock_app password '${LOGIN.password}'`);
  return server.urlOf(DATABASE, LOGIN);
}

/**
 * Installs a version with the demo data on an empty server, and starts it.
 *
 * @param extra further settings
 */
export async function install(
  version: string,
  server: DatabaseServer,
  extra: Record<string, string> = {},
): Promise<Installation> {
  await server.query(`create database ${DATABASE}`);
  await seed(version, server.urlOf(DATABASE));
  await addLogin(server);
  const receiver = await startReceiver();
  const owner = new pg.Client({ connectionString: server.urlOf(DATABASE) });
  await owner.connect();
  const urls = { add: `${receiver.url}/add`, update: `${receiver.url}/update` };
  await replaceCredentials(owner, SECRETS);
  // Only `query` is used, which a client has too.
  await setEndpoints({ owner: owner as unknown as pg.Pool, secrets: SECRETS }, urls);
  await owner.end();
  return operate(version, server, receiver, extra);
}

const SECRETS = openSecrets(developmentConfig(KEYS).secrets);

/** Starts the processes of an installation whose database exists. */
export async function operate(
  version: string,
  server: DatabaseServer,
  receiver: Receiver,
  extra: Record<string, string> = {},
): Promise<Installation> {
  const ownerUrl = server.urlOf(DATABASE);
  const settings = { ...SETTINGS, DATABASE_URL: server.urlOf(DATABASE, LOGIN), ...extra };
  const owner = new pg.Pool({ connectionString: ownerUrl, max: 2 });
  owner.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined));
  const command = (folder: string, program: string, args: string[] = [], env: Record<string, string> = {}) =>
    start(folder, program, { ...settings, DATABASE_OWNER_URL: ownerUrl, ...env }, args);
  const startReplica = (folder: string, port: number) => serve(folder, { ...settings, PORT: String(port) });
  const startWorker = (folder: string, env: Record<string, string> = {}) =>
    work(folder, { ...settings, LOG_LEVEL: 'info', ...env });
  const ports = [await freePort(), await freePort()];
  const replicas = await Promise.all(ports.map((port) => startReplica(version, port)));
  const [worker, proxy] = [await startWorker(version), await startProxy(ports, version)];
  return {
    ...{ server, owner, secrets: SECRETS, receiver, proxy, worker, command, startReplica, startWorker },
    replicas: replicas.flatMap((replica) => replica ?? []),
    token: await logIn(proxy.url, 'admin', REHEARSAL.password),
    async stop() {
      await proxy.stop();
      await receiver.stop();
      await owner.end();
      await server.stop();
    },
  };
}

function start(folder: string, program: string, env: Record<string, string>, args: string[] = []): Running {
  const { PATH } = process.env;
  return runProgram(process.execPath, [join(folder, 'dist', program), ...args], { PATH, ...env }, folder);
}

/** Lets a version create its tables and its demo data, as it does in development. */
async function seed(version: string, ownerUrl: string): Promise<void> {
  const port = await freePort();
  const env = {
    ...KEYS,
    APP_ENV: 'development',
    DATABASE_URL: ownerUrl,
    RUN_WORKER: 'false',
    LOG_LEVEL: 'error',
    PORT: String(port),
  };
  // Earlier releases have it elsewhere, or one program for both.
  const programs = ['fixtures/clone.js', 'src/clone.js'];
  const program = programs.find((path) => existsSync(join(version, 'dist', path)));
  const service = start(version, program ?? 'src/main.js', env);
  if (!(await becomesReady(service, port))) throw new Error(service.output());
  await drain(service);
}

/** Starts a replica. Returns undefined if it ends before it is ready. */
async function serve(folder: string, env: Record<string, string>): Promise<Replica | undefined> {
  const service = start(folder, 'src/main.js', env);
  const port = Number(env['PORT']);
  return (await becomesReady(service, port)) ? { ...service, port } : undefined;
}

async function becomesReady({ child }: Running, port: number): Promise<boolean> {
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  let isReady = false;
  await until(async () => {
    isReady = (await statusOf(`http://127.0.0.1:${port}/ready`)) === 200;
    return isReady || hasEnded();
  }, READY_LIMIT_MS);
  return isReady;
}

async function work(folder: string, env: Record<string, string>): Promise<Running> {
  const port = await freePort();
  const worker = start(folder, 'src/worker.js', { ...env, METRICS_PORT: String(port) });
  await until(async () => {
    if (worker.child.exitCode !== null) throw new Error(worker.output());
    return (await statusOf(`http://127.0.0.1:${port}/health`)) === 200;
  }, READY_LIMIT_MS);
  return worker;
}
