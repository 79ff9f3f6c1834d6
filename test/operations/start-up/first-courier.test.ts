import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { refuse, startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { logIn } from '../../support/service/client.js';
import { run, until } from '../../support/service/processes.js';
import { startService, type Service } from '../../support/service/service.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { matching } from '../../support/assertions/matching.js';

// docs/first-courier.md: its commands run as they are written, against a tenant that tenant-create has just made.

const LIMIT_MS = 120_000;
const OWN_PASSWORD = 'nine parcels under a blue roof';
const page = readFileSync(join(projectRoot, 'docs', 'first-courier.md'), 'utf8');
const BLOCKS = [...page.matchAll(/^```sh name=(\S+)\n(.*?)^```$/gms)].map(([, name = '', body = '']) => ({
  name,
  body,
}));

let service: Service;
let receiver: Receiver;
let database: DocumentedDatabase;

beforeAll(async () => {
  database = await documentedDatabase();
  service = await startService({ database, worker: true });
  receiver = await startReceiver();
}, LIMIT_MS);

afterAll(async () => {
  await service.stop();
  await receiver.stop();
}, LIMIT_MS);

async function createTenant(): Promise<string> {
  const created = run(
    'src/commands/tenant-create.js',
    { DATABASE_OWNER_URL: database.urls.DATABASE_OWNER_URL },
    ['--slug', 'gateway', '--name', 'Gateway Ltd', '--host', '*', '--generate-password'],
  );
  expect((await created.ended).code).toBe(0);
  return /Password, shown this once: (\S+)/.exec(created.output())?.[1] ?? '';
}

/** Not spawnSync, because the service runs in this process. */
async function runShell(script: string, options = ['-eu', '-c']): Promise<{ code: number; output: string }> {
  const { PATH } = process.env;
  const shell = spawn('sh', [...options, script], { env: { PATH }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, code] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    new Promise<number>((resolve) => shell.on('close', (status) => resolve(status ?? 1))),
  ]);
  return { code, output: output + errors };
}

const missing = [findProgram('curl') ? undefined : 'curl'];
const declare = missing.some(Boolean) ? test.skip : test;

declare(
  titleWith('the commands lead from the printed password to a courier that receives webhooks', missing),
  async () => {
    const values: Record<string, string> = {
      API: `${service.url}/api`,
      PRINTED_PASSWORD: await createTenant(),
      PASSWORD: OWN_PASSWORD,
      WEBHOOK_URL: receiver.url,
    };
    const blocks = BLOCKS.map(({ name, body }) => {
      const changed = Object.entries(values).map(([key, value]) => `${key}='${value}'\n`);
      return name === 'values' ? body + changed.join('') : body;
    });
    const { code, output } = await runShell(blocks.join('\n'));
    if (code !== 0) throw new Error(output);
    expect(output).toContain('OK: the password is changed');
    expect(output.match(/^OK: /gm)).toHaveLength(BLOCKS.length - 2);
    expect(output).not.toMatch(matching(/^FAILED: /m, 'FAILED: x'));
    expect(output).toMatch(/^API key of SUN: [0-9a-f]{64}$/m);
    expect(output).toMatch(/^One-time password of sunny: \S+$/m);
    expect(output).toMatch(/^Webhook secret: whsec_\S+$/m);
    expect(output).toContain('"matched_by":"prealert"');
    expect(output).not.toContain('"status":"error"');
    // The test, and the parcel that arrived.
    await until(async () => receiver.received.length >= 2);
  },
  LIMIT_MS,
);

/** Pastes blocks as into a terminal, where a failed line does not stop the next one. */
const paste = (values: Record<string, string>, names: string[], after = '') => {
  const set = Object.entries(values).map(([name, value]) => `${name}='${value}'`);
  const bodies = names.map((name) => BLOCKS.find((block) => block.name === name)?.body ?? '');
  return runShell([...set, ...bodies, after].join('\n'), ['-c']);
};

const lastLine = (output: string) => output.trim().split('\n').at(-1);

describe('a block that the service refuses', () => {
  const ID = '00000000-0000-4000-8000-000000000001';
  const KEPT = { COURIER_ID: ID, COURIER_KEY: 'a key of before', TOKEN: 'a.b.c', COURIER_CODE: 'SUN' };
  const VALUES = {
    ...KEPT,
    COURIER_NAME: 'Sun Express',
    COURIER_USER: 'sunny',
    WEBHOOK_URL: 'https://x.example',
  };
  const cases = BLOCKS.map(({ name }) => name).filter((name) => !['values', 'functions'].includes(name));

  test.each(cases)(
    '%s shows the response, ends with FAILED, and empties nothing',
    async (name) => {
      const api = { API: `${service.url}/api`, ADMIN: 'nobody', PRINTED_PASSWORD: 'wrong', PASSWORD: 'x' };
      const show = 'echo "KEPT: $COURIER_ID $COURIER_KEY $TOKEN"';
      const { output } = await paste({ ...api, ...VALUES }, ['functions', name], show);
      expect(output).toMatch(
        /^(FAILED: [^{]*)?\{.*"code":"(token_invalid|key_invalid|credentials_invalid)"/m,
      );
      expect(output).toMatch(/^FAILED: [^\n]+\n$/m);
      expect(output).not.toMatch(matching(/^OK: /m, 'OK: it worked'));
      expect(output).toContain(`KEPT: ${ID} a key of before a.b.c\n`);
      // The first request that is refused is the last one.
      expect(output.match(/"code":"/g)).toHaveLength(1);
    },
    LIMIT_MS,
  );

  test.each(cases)(
    '%s ends with FAILED if the service is not there',
    async (name) => {
      const api = { API: 'http://127.0.0.1:9/api', ADMIN: 'admin', PRINTED_PASSWORD: 'x', PASSWORD: 'x' };
      const { output } = await paste({ ...api, ...VALUES }, ['functions', name]);
      expect(lastLine(output)).toMatch(/^FAILED: /);
      expect(output).not.toMatch(matching(/^OK: /m, 'OK: it worked'));
    },
    LIMIT_MS,
  );
});

declare(
  titleWith('the block courier that is pasted twice keeps the key of the first time', missing),
  async () => {
    const token = await logIn(service.url, 'admin', OWN_PASSWORD);
    const values = {
      API: `${service.url}/api`,
      TOKEN: token,
      COURIER_CODE: 'SUN',
      COURIER_NAME: 'Sun Express',
    };
    const given = { ...values, COURIER_USER: 'sunny', COURIER_ID: 'an id', COURIER_KEY: 'a key' };
    const { output } = await paste(given, ['functions', 'courier'], 'echo "KEPT: $COURIER_ID $COURIER_KEY"');
    expect(output).toMatch(
      /^FAILED: the courier was not created now\. \{.*"code":"\w*(taken|exists|duplicate)\w*"/m,
    );
    expect(output).toMatch(/^KEPT: an id a key$/m);
  },
  LIMIT_MS,
);

declare(
  titleWith(
    'the block parcel may be pasted again, and the block deliveries is OK only if the test was accepted',
    missing,
  ),
  async () => {
    const courier = await service.owner.query<{ id: string }>("select id from couriers where code = 'SUN'");
    const { rows } = courier;
    const values = {
      API: `${service.url}/api`,
      TOKEN: await logIn(service.url, 'admin', OWN_PASSWORD),
      COURIER_ID: rows[0]?.id ?? '',
      WEBHOOK_URL: receiver.url,
    };
    const renewed = await paste(
      values,
      ['functions'],
      `post RegenerateApiKey '{"courier_id":"${values.COURIER_ID}"}'`,
    );
    const key = /"api_key":"(\w+)"/.exec(renewed.output)?.[1] ?? '';
    const again = await paste({ ...values, COURIER_KEY: key }, ['functions', 'parcel']);
    expect(again.output).toContain('"differs":false');
    expect(again.output).toMatch(/^OK: the parcel has arrived$/m);

    const accepted = await paste(values, ['functions', 'webhooks', 'deliveries']);
    expect(lastLine(accepted.output)).toBe("OK: the courier's system has accepted the test");
    const refusing = await startReceiver(refuse(500));
    const refused = await paste({ ...values, WEBHOOK_URL: refusing.url }, [
      'functions',
      'webhooks',
      'deliveries',
    ]);
    await refusing.stop();
    expect(lastLine(refused.output)).toMatch(
      /^FAILED: the courier's system has not accepted the test, .*"status":"failed"/,
    );
  },
  LIMIT_MS,
);

test('the block password says how to go on if the password was changed or has ended', async () => {
  const values = { API: `${service.url}/api`, ADMIN: 'admin', PRINTED_PASSWORD: 'ended', PASSWORD: 'x' };
  const { output } = await paste(values, ['functions', 'password']);
  expect(output).toMatch(
    /^FAILED: the password is not changed\. If it was changed before, TOKEN=\$\(log_in "\$ADMIN" "\$PASSWORD"\) logs you in\. .*crossdock reset-admin gives a new one\./m,
  );
});

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...readdirSync(join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

test('no link of a document of a release leads to a folder that the release does not contain', () => {
  const links = DOCUMENTS.flatMap((document) =>
    [...readFileSync(join(projectRoot, document), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].map(
      ([, target = '']) => `${document}: ${target}`,
    ),
  );
  expect(links.length).toBeGreaterThan(100);
  const unreleased = matching(/: (\.\.\/)*(test|scripts|src|openapi|console|sdk)\//, 'README.md: test/x.ts');
  expect(links.filter((link) => unreleased.test(link))).toEqual([]);
});
