import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { OperationId } from '../src/contract/types.js';
import { DEMO } from '../src/demo/demo.js';
import { projectRoot } from '../src/root.js';
import { filledPath, operationIds, operationOf } from './support/contract.js';
import { demoDatabase, type TestDatabase } from './support/database.js';
import { addressOf } from './support/inputs.js';
import { endProcesses, freePort, startReplica, type Replica } from './support/processes.js';
import { sendRaw, type RawReply } from './support/wire.js';
import { filled, worstJsonBodies, type WorstBody } from './support/worst-bodies.js';

const MIB = 1024 * 1024;
const LIMIT_MS = 50;

let database: TestDatabase;
let replica: Replica;
let watch: string;
let token: string;

beforeAll(async () => {
  database = await demoDatabase();
  const port = String(await freePort());
  watch = `http://127.0.0.1:${port}`;
  replica = await startReplica({
    DATABASE_URL: database.ownerUrl,
    RUN_WORKER: 'false',
    LOOP_WATCH_PORT: port,
    NODE_OPTIONS: `--import ${pathToFileURL(join(projectRoot, 'test/support/loop-watch.mjs')).href}`,
  });
  const body = JSON.stringify({ action: 'login', username: 'admin', password: DEMO.password });
  const reply = await send('login', {}, { contentType: 'application/json', bytes: Buffer.from(body) });
  token = (JSON.parse(reply.text) as { data: { access_token: string } }).data.access_token;
});

afterAll(async () => {
  await endProcesses();
  await database.drop();
});

type Headers = Record<string, string>;

function send(
  id: OperationId,
  headers: Headers,
  { contentType, bytes }: Omit<WorstBody, 'name'>,
): Promise<RawReply> {
  const { path: parts, query = {} } = addressOf(id);
  const search = new URLSearchParams(query as Record<string, string>).toString();
  return sendRaw(replica.url, {
    method: operationOf(id).method,
    path: `${filledPath(id, parts)}${search ? `?${search}` : ''}`,
    headers: { 'content-type': contentType, ...headers },
    body: bytes,
  });
}

/** The longest that the service's loop was held since this was last asked. */
const takeHeldMs = async (): Promise<number> => Number(await (await fetch(watch)).text());

async function heldBy(work: () => Promise<unknown>): Promise<number> {
  await takeHeldMs();
  await work();
  return takeHeldMs();
}

function credentialOf(id: OperationId): Headers {
  const { credential, takesIdempotencyKey } = operationOf(id);
  const again: Headers = takesIdempotencyKey ? { 'idempotency-key': randomUUID() } : {};
  if (credential === 'none') return again;
  return credential === 'key'
    ? { ...again, 'x-api-key': DEMO.apiKeys.IEX }
    : { ...again, authorization: `Bearer ${token}` };
}

const json = (text: string): Omit<WorstBody, 'name'> => ({
  contentType: 'application/json',
  bytes: Buffer.from(text),
});

const ATTACKS: [string, OperationId, Omit<WorstBody, 'name'>][] = [
  ['a list of zeros to login', 'login', json(filled('[', '0,', '0]', MIB))],
  [
    '260,000 bad package_ids to manageManifest',
    'manageManifest',
    json(
      JSON.stringify({
        action: 'add_packages',
        manifest_id: randomUUID(),
        package_ids: Array.from({ length: 260_000 }, () => 'x'),
      }),
    ),
  ],
  [
    'a large urlencoded form to updateCourierSettings',
    'updateCourierSettings',
    {
      contentType: 'application/x-www-form-urlencoded',
      bytes: Buffer.from(
        Array.from({ length: 150_000 }, (_, n) => `${n.toString(36)}=`)
          .join('&')
          .slice(0, MIB),
      ),
    },
  ],
];

describe('the attacks as they were found', () => {
  test.each(ATTACKS)(
    '%s',
    async (name, id, body) => {
      const statuses: number[] = [];
      const held: number[] = [];
      for (let round = 0; round < 3; round += 1)
        held.push(await heldBy(async () => statuses.push((await send(id, credentialOf(id), body)).status)));
      console.log(`${name}: ${statuses.join()} held ${held.map((ms) => ms.toFixed(0)).join(' ')} ms`);
      const waits = await waitsDuring(() => send(id, credentialOf(id), body));
      waits.sort((a, b) => a - b);
      console.log(
        `${name}: p50 ${at(waits, 0.5)} p99 ${at(waits, 0.99)} max ${at(waits, 1)} of ${waits.length}`,
      );
      expect(Math.min(...held)).toBeLessThan(LIMIT_MS);
    },
    60_000,
  );

  const at = (sorted: number[], part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]?.toFixed(1);

  /** How long light requests took while two heavy ones a second came. */
  async function waitsDuring(attack: () => Promise<unknown>): Promise<number[]> {
    const attacks = Array.from({ length: 8 }, (_, n) => sleep(n * 500).then(attack));
    const waits: Promise<number>[] = [];
    for (let n = 0; n < 400; n += 1) {
      const started = performance.now();
      waits.push(
        fetch(`${replica.url}/health`).then(async (reply) => {
          await reply.text();
          return performance.now() - started;
        }),
      );
      await sleep(10);
    }
    await Promise.all(attacks);
    return Promise.all(waits);
  }
});

describe('every operation', () => {
  test.each(operationIds.filter((id) => operationOf(id).mediaTypes.length > 0))(
    '%s',
    async (id) => {
      const bodies = worstJsonBodies(
        id,
        process.env['OLD'] ? MIB : ((operationOf(id) as any).maxBodyBytes ?? MIB),
      );
      const found: string[] = [];
      for (const body of bodies) {
        let status = 0;
        const held = await heldBy(async () => {
          status = (await send(id, credentialOf(id), body)).status;
        });
        if (held > 15) found.push(`${body.name} ${body.bytes.length} ${status}: ${held.toFixed(0)}`);
      }
      console.log(`${id} ${bodies.length}\n${found.join('\n')}`);
    },
    300_000,
  );
});
