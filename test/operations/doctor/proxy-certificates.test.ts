import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
// listen() on an address of TCP returns this type.
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { startSes, type Ses } from '../../support/receivers/ses.js';
import { endProcesses, freePort, removeFolders, run } from '../../support/service/processes.js';
import { findingsFor, makeInstallation, type Copy, type Installation } from './installation.js';

// The certificates that a proxy presents, compared with the host names of the tenants.

const LIMIT_MS = 60_000;
const DAY_MS = 86_400_000;
const read = (name: string) =>
  readFile(join(projectRoot, 'test', 'operations', 'doctor', 'certificates', `${name}.pem`), 'utf8');

let ses: Ses;
let installation: Installation;
let copy: Copy;
let server: Server;
let authority: string;

beforeAll(async () => {
  ses = await startSes();
  installation = await makeInstallation(ses.url);
  copy = await installation.copy();
  const aws = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test-key-of-mail' };
  // A proxy terminates TLS.
  copy.env = {
    ...copy.env,
    ...aws,
    TLS_CERT_FILE: undefined,
    TLS_KEY_FILE: undefined,
    TRUST_PROXY: '127.0.0.1',
  };
  authority = await read('authority');
  server = createServer({ cert: await read('server'), key: await read('server-key') }).listen(0, '127.0.0.1');
  await once(server, 'listening');
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  server.close();
  await copy.drop();
  await installation.drop();
  await ses.stop();
  await removeFolders();
}, LIMIT_MS);

const portOf = () => (server.address() as AddressInfo).port;

async function findings(stated: { ca?: string; port?: number; now?: () => Date } = {}): Promise<string[]> {
  const { ca = authority, port = portOf(), now = () => new Date() } = stated;
  const lines = await findingsFor(copy.env, { proxy: { host: '127.0.0.1', port, ca }, now });
  return lines
    .filter(({ check }) => check === 'host names')
    .map(({ level, message }) => `${level} ${message.replaceAll(/127\.0\.0\.1:\d+/g, 'PROXY')}`);
}

describe('doctor with --proxy', () => {
  test('accepts a certificate with the names of all tenants, wildcards included', async () => {
    await copy.owner.query(
      "insert into tenant_hosts (tenant_id, host) select id, 'b.gateway.example' from tenants",
    );
    await copy.owner.query("insert into tenant_hosts (tenant_id, host) select id, '*' from tenants");
    expect(await findings()).toEqual([
      'ok The certificates of the proxy have the host names of the tenants: 2.',
    ]);
  });

  test('finds a name that is missing, a certificate that expires, and one that clients do not trust', async () => {
    await copy.owner.query(
      "insert into tenant_hosts (tenant_id, host) select id, 'a.b.gateway.example' from tenants",
    );
    expect(await findings()).toEqual([
      'problem The certificate that PROXY presents for a.b.gateway.example does not have the host name a.b.gateway.example.',
    ]);
    await copy.owner.query("delete from tenant_hosts where host <> 'gateway.example'");
    const soon = new Date('2126-11-01').getTime() - 10 * DAY_MS;
    expect(await findings({ now: () => new Date(soon) })).toEqual([
      expect.stringMatching(
        /^warning The certificate that PROXY presents for gateway\.example expires in \d+ days\.$/,
      ),
    ]);
    expect(await findings({ now: () => new Date('2127-01-01') })).toEqual([
      expect.stringMatching(/^problem .* for gateway\.example expired on /),
    ]);
    expect(await findings({ ca: await read('../../../support/receivers/localhost') })).toEqual([
      expect.stringMatching(/^problem .* presents for gateway\.example is not trusted: /),
    ]);
  });

  test('finds a proxy that is away', async () => {
    expect(await findings({ port: await freePort() })).toEqual([
      expect.stringMatching(
        /^problem The proxy at PROXY presents no certificate for gateway\.example: .*ECONNREFUSED/,
      ),
    ]);
  });

  test('is an address with or without a port; anything else is refused with the usage', async () => {
    const env = Object.fromEntries(
      Object.entries(copy.env).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])),
    );
    const doctor = async (proxy: string) => {
      const running = run('src/commands/doctor.js', { ...env, AWS_EC2_METADATA_DISABLED: 'true' }, [
        '--proxy',
        proxy,
      ]);
      const { code } = await running.ended;
      return { code, output: running.output() };
    };
    expect((await doctor(`127.0.0.1:${portOf()}`)).output).toMatch(/^problem +host names .*is not trusted/m);
    for (const proxy of ['https://gateway.example', 'gateway.example:https', '::1', 'a b'])
      expect(await doctor(proxy)).toMatchObject({
        code: 2,
        output: expect.stringContaining('--proxy HOST:PORT'),
      });
  });
});
