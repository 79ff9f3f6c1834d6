import { execFileSync } from 'node:child_process';
import { chmod, chown, stat } from 'node:fs/promises';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { readValue } from '../../../src/platform/db/connections/rows.js';
import { startOwnServer, type OwnServer } from '../../support/service/postgres.js';
import {
  endProcesses,
  makeFolder,
  removeFolders,
  startReplica,
  until,
} from '../../support/service/processes.js';
import { titleWith } from '../../support/harness/programs.js';
import { textsOf } from './installation.js';

// docs/deploy.md, "Encrypted connections", against a server with a certificate of an own authority.

const LIMIT_MS = 120_000;

/** An address of this machine that is not the loopback, as that of another host would be. */
const OTHER = Object.values(networkInterfaces())
  .flat()
  .find((each) => each && !each.internal && each.family === 'IPv4')?.address;
const whenReachable = OTHER ? test : test.skip;
const titleOf = (title: string) => titleWith(title, [OTHER ? undefined : 'other address']);

let server: OwnServer;
let authority: string;
let stranger: string;
/** Leads to the server by the other address. */
let relay: Server;

beforeAll(async () => {
  const folder = await makeFolder();
  [authority, stranger] = [join(folder, 'authority.pem'), join(folder, 'stranger.pem')];
  makeAuthority(folder, 'authority');
  makeAuthority(folder, 'stranger');
  server = await startOwnServer();
  await encrypt(folder);
  const port = Number(new URL(server.urlOf('postgres')).port);
  relay = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    for (const end of [socket, onward]) end.on('error', () => undefined);
  }).listen(0, OTHER);
  await once(relay, 'listening');
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  relay.close();
  await server.stop();
  await removeFolders();
}, LIMIT_MS);

const openssl = (folder: string, ...args: string[]) =>
  execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function makeAuthority(folder: string, name: string): void {
  const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
  openssl(folder, 'req', '-x509', ...NEW_KEY, ...files, '-days', '2', '-subj', `/CN=${name}`);
}

/** Gives the server a certificate for localhost. */
async function encrypt(folder: string): Promise<void> {
  const request = ['-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=database'];
  openssl(folder, 'req', ...NEW_KEY, ...request, '-addext', 'subjectAltName=DNS:localhost');
  const issuer = ['-CA', 'authority.pem', '-CAkey', 'authority.key', '-CAcreateserial'];
  const sign = ['-in', 'server.csr', ...issuer, '-copy_extensions', 'copy', '-days', '2'];
  openssl(folder, 'x509', '-req', ...sign, '-out', 'server.pem');
  const { uid, gid } = await stat(server.cluster);
  await chown(join(folder, 'server.key'), uid, gid);
  await chmod(join(folder, 'server.key'), 0o600);
  await server.query(`alter system set ssl_cert_file = '${join(folder, 'server.pem')}'`);
  await server.query(`alter system set ssl_key_file = '${join(folder, 'server.key')}'`);
  await server.query('alter system set ssl = on');
  await server.query('select pg_reload_conf()');
}

function urlOf(host: string, query = ''): string {
  const url = new URL(server.urlOf('postgres'));
  // A listening TCP server has this kind of address.
  const port = host === OTHER ? String((relay.address() as AddressInfo).port) : url.port;
  return Object.assign(url, { hostname: host, port, search: query }).href;
}

const isEncrypted = (url: string): Promise<boolean> =>
  withClient(url, (client) =>
    readValue<boolean>(client, 'select ssl from pg_stat_ssl where pid = pg_backend_pid()'),
  );

describe('a connection', () => {
  test.each(['', '?sslmode=disable'])('with "%s" is not encrypted', async (query) => {
    expect(await isEncrypted(urlOf('127.0.0.1', query))).toBe(false);
  });

  test.each(['require', 'verify-ca', 'verify-full'])(
    'with sslmode=%s is encrypted, and refuses a certificate of another authority',
    async (mode) => {
      const query = `?sslmode=${mode}&sslrootcert=`;
      expect(await isEncrypted(urlOf('localhost', query + authority))).toBe(true);
      await expect(isEncrypted(urlOf('localhost', query + stranger))).rejects.toThrow(/certificate/);
      await expect(isEncrypted(urlOf('localhost', `?sslmode=${mode}`))).rejects.toThrow(/certificate/);
    },
  );

  test('with sslmode=no-verify is encrypted, and accepts every certificate', async () => {
    expect(await isEncrypted(urlOf('127.0.0.1', '?sslmode=no-verify'))).toBe(true);
  });

  test('with sslmode=verify-full refuses a server without encryption', async () => {
    const plain = String(process.env['TEST_ADMIN_URL']);
    await expect(isEncrypted(`${plain}?sslmode=verify-full`)).rejects.toThrow(/does not support SSL/);
  });
});

test(
  'a server and its jobs encrypt all their connections',
  async () => {
    await server.query('create database crossdock');
    const url = new URL(urlOf('localhost', `?sslmode=verify-full&sslrootcert=${authority}`));
    url.pathname = '/crossdock';
    const service = await startReplica({ DATABASE_URL: url.href, METRICS_PORT: '0' });
    let rows: Record<string, unknown>[] = [];
    // The jobs connect when the service has begun to serve.
    await until(async () => {
      rows = await server.query(
        `select a.application_name as name, s.ssl
         from pg_stat_ssl s join (select * from pg_stat_activity where datname = 'crossdock') a using (pid)`,
      );
      return rows.length > 2;
    });
    expect(rows.filter(({ ssl }) => ssl !== true)).toEqual([]);
    await service.stop();
  },
  LIMIT_MS,
);

const findings = async (env: Record<string, string>, appEnv = 'production'): Promise<string[]> =>
  (await textsOf('connections', { APP_ENV: appEnv, ...env })).filter((text) => /encrypt/.test(text));

const OK = [expect.stringMatching(/^ok: The connections to the database are encrypted, stay on this host/)];

describe('crossdock doctor', () => {
  whenReachable(
    titleOf('warns of a connection to another host without encryption, with its remedy'),
    async () => {
      const DATABASE_URL = urlOf(OTHER ?? '');
      const warning = expect.stringMatching(
        /^warning: The connection of DATABASE_URL to [\d.]+ is not encrypted.* Add \?sslmode=verify-full&sslrootcert=/,
      );
      expect(await findings({ DATABASE_URL })).toEqual([warning]);
      expect(await findings({ DATABASE_URL }, 'staging')).toEqual([warning]);
      expect((await findings({ DATABASE_URL }, 'development'))[0]).toMatch(/^ok: /);
      expect(await findings({ DATABASE_URL: urlOf('127.0.0.1'), DATABASE_OWNER_URL: DATABASE_URL })).toEqual([
        expect.stringMatching(/^warning: The connection of DATABASE_OWNER_URL to /),
      ]);
    },
  );

  whenReachable(titleOf('accepts an encrypted one, and one with sslmode=disable'), async () => {
    for (const query of [`?sslmode=verify-full&sslrootcert=${authority}`, '?sslmode=disable'])
      expect(await findings({ DATABASE_URL: urlOf(OTHER ?? '', query) })).toEqual(OK);
  });

  test('accepts one that stays on this host', async () => {
    expect(await findings({ DATABASE_URL: urlOf('127.0.0.1') })).toEqual(OK);
  });
});
