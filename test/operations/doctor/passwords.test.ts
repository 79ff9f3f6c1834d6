import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startOwnServer, type OwnServer } from '../../support/service/postgres.js';
import { removeFolders, until } from '../../support/service/processes.js';
import { textsOf } from './installation.js';

// A server that a developer has named in DATABASE_URL may trust everybody, so this file starts its own.

let server: OwnServer;

beforeAll(async () => {
  server = await startOwnServer();
}, 60_000);

afterAll(async () => {
  await server.stop();
  await removeFolders();
});

const findings = (url = server.urlOf('postgres')): Promise<string[]> =>
  textsOf('password', { APP_ENV: 'development', DATABASE_URL: url });

async function authenticateBy(method: string): Promise<void> {
  await writeFile(join(server.cluster, 'pg_hba.conf'), `host all all all ${method}\n`);
  await server.query('select pg_reload_conf()');
}

const REFUSES = /^ok: The server refuses the login with a wrong password/;
const TRUSTS = /^warning: The server accepts the login with any password\. Require scram-sha-256/;

/** The server reads its file again some time after it was asked to. */
const isFound = (pattern: RegExp) => until(async () => (await findings()).some((line) => pattern.test(line)));

test('warns of a server that accepts the login with any password, until it asks for the right one', async () => {
  expect(await findings()).toEqual([expect.stringMatching(REFUSES)]);
  await authenticateBy('trust');
  await isFound(TRUSTS);
  await authenticateBy('scram-sha-256');
  await isFound(REFUSES);
});

test('says nothing about the server if the login has no password', async () => {
  await authenticateBy('trust');
  const url = new URL(server.urlOf('postgres'));
  url.password = '';
  expect(await findings(url.href)).toEqual([
    expect.stringMatching(/^ok: The login has no password in DATABASE_URL/),
  ]);
});
