import { readFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:https';
import { request as requestPlainly } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { scrape } from '../../support/readers/exposition.js';
import { endProcesses, freePort, run, until } from '../../support/service/processes.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';

const LIMIT_MS = 60_000;
const KEYS = {
  TOKEN_KEYS: `k1:${'test-key-0123456789'.repeat(3)}`,
  ENCRYPTION_KEYS: `1:${'0123456789abcdef'.repeat(4)}`,
  LOOKUP_KEY: 'fedcba9876543210'.repeat(4),
};
const TLS = {
  TLS_CERT_FILE: join(projectRoot, 'test', 'support', 'receivers', 'localhost.pem'),
  TLS_KEY_FILE: join(projectRoot, 'test', 'support', 'receivers', 'localhost-key.pem'),
};
/** The headers of a proxy that terminates TLS. */
const FORWARDED = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '198.51.100.7' };

let database: DocumentedDatabase;

beforeAll(async () => {
  database = await documentedDatabase();
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await database.drop();
}, LIMIT_MS);

/** Starts a server of production. `ask` sends a request from an address of this machine. */
async function serve(env: Record<string, string>) {
  const port = await freePort();
  const metrics = await freePort();
  const server = run('src/main.js', {
    ...KEYS,
    APP_ENV: 'production',
    DEPLOYMENT: 'crossdock-production',
    DATABASE_URL: database.urls.DATABASE_URL,
    RUN_WORKER: 'false',
    PORT: String(port),
    METRICS_PORT: String(metrics),
    ...env,
  });
  const hasTls = env['TLS_CERT_FILE'] !== undefined;
  const ask = (path: string, headers: Record<string, string>, localAddress = '127.0.0.1') =>
    new Promise<number>((resolve, reject) => {
      const options: RequestOptions = { host: '127.0.0.1', port, path, headers, localAddress, agent: false };
      const ca = hasTls ? readFileSync(TLS.TLS_CERT_FILE) : undefined;
      const sent = hasTls ? request({ ...options, ca, servername: 'localhost' }) : requestPlainly(options);
      sent.on('error', reject);
      sent.on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.end();
    });
  await until(async () => {
    if (server.child.exitCode !== null) throw new Error(server.output());
    return (await ask('/health', {}).catch(() => undefined)) === 200;
  });
  const lines = () =>
    server
      .output()
      .split('\n')
      .filter((line) => line.includes('"proxy.untrusted"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  /** The check that awaits the start does not count. */
  const counted = async (name: string) => {
    const { series } = await scrape(metrics);
    return series
      .filter((each) => each.name === name && each.labels['operation'] !== 'getHealth')
      .reduce((sum, { value }) => sum + value, 0);
  };
  const refused = () => counted('crossdock_untrusted_proxy_refused_total');
  const settled = async (requests: number) => {
    await until(async () => (await counted('crossdock_http_requests_total')) >= requests);
  };
  return { ask, lines, refused, settled };
}

test(
  'a proxy outside of TRUST_PROXY is named in one line per minute, whatever the addresses are, and each refused request is counted',
  async () => {
    const { ask, lines, refused, settled } = await serve({ TRUST_PROXY: '10.9.9.9,10.9.9.10' });
    const addresses = Array.from({ length: 20 }, (_, n) => `127.0.0.${n + 1}`);
    const statuses = [];
    for (const address of addresses) statuses.push(await ask('/docs', FORWARDED, address));
    expect(statuses).toEqual(addresses.map(() => 403));
    await settled(20);
    expect(await refused()).toBe(20);
    expect(lines()).toEqual([
      expect.objectContaining({
        level: 40,
        address: '127.0.0.1',
        trustProxy: '10.9.9.9,10.9.9.10',
        requests: 1,
      }),
    ]);
  },
  LIMIT_MS,
);

test(
  'counts no health check of it, and neither logs nor counts a trusted proxy or a request without such headers',
  async () => {
    const { ask, lines, refused, settled } = await serve({ TRUST_PROXY: '127.0.0.1' });
    expect(await ask('/docs', FORWARDED)).toBe(200);
    expect(await ask('/docs', {}, '127.0.0.2')).toBe(403);
    await settled(2);
    expect([lines(), await refused()]).toEqual([[], 0]);
    expect(await ask('/ready', FORWARDED, '127.0.0.2')).toBe(200);
    await settled(3);
    expect([lines().map(({ address }) => address), await refused()]).toEqual([['127.0.0.2'], 0]);
  },
  LIMIT_MS,
);

test(
  'a server that serves TLS itself and has no proxy logs nothing about strangers with such headers; with a proxy it logs them and refuses none',
  async () => {
    const alone = await serve(TLS);
    expect(await alone.ask('/docs', FORWARDED)).toBe(200);
    const proxied = await serve({ ...TLS, TRUST_PROXY: '10.9.9.9' });
    expect(await proxied.ask('/docs', FORWARDED)).toBe(200);
    await Promise.all([alone.settled(1), proxied.settled(1)]);
    expect([alone.lines().length, proxied.lines().length]).toEqual([0, 1]);
    expect([await alone.refused(), await proxied.refused()]).toEqual([0, 0]);
  },
  LIMIT_MS,
);
