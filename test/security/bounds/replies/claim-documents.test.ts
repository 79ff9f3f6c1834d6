import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { insertClaim, newNumber } from '../../../support/builders/parcels.js';
import { startWatchedReplica } from '../../../support/attacks/watched-replica.js';
import { jpeg, jpegSegment, png, pngChunk } from '../../../support/readers/pictures.js';
import { logIn } from '../../../support/service/client.js';
import { demoDatabase, type TestDatabase } from '../../../support/service/database.js';
import { endProcesses, type Replica } from '../../../support/service/processes.js';

// The largest documents of claims are searched, hashed, stored, read and sent by the only thread of a server.

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_HELD_MS = 50;
const AT_ONCE = 6;

let database: TestDatabase;
let owner: pg.Pool;
let replica: Replica;
let takeHeldMs: () => Promise<number>;
let authorization: string;

beforeAll(async () => {
  database = await demoDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
  ({ replica, takeHeldMs } = await startWatchedReplica(database.ownerUrl));
  authorization = `Bearer ${await logIn(replica.url, 'iex')}`;
  // The first call of each operation compiles it.
  await get(await add(png()));
}, 120_000);

afterAll(async () => {
  await owner.end();
  await endProcesses();
  await database.drop();
});

/** Stores a document of a new claim, and returns its id. */
async function add(file: Buffer): Promise<string> {
  const claim = { courierId: DEMO.couriers.IEX, trackingNumber: newNumber() };
  const form = new FormData();
  form.append('claim_id', await insertClaim(owner, claim));
  form.append('document', new Blob([file]), 'document');
  const reply = await fetch(`${replica.url}/api/AddClaimDocument.php`, {
    method: 'POST',
    headers: { authorization },
    body: form,
  });
  expect(reply.status).toBe(201);
  return ((await reply.json()) as { data: { document_id: string } }).data.document_id;
}

async function get(id: string): Promise<Buffer> {
  const reply = await fetch(`${replica.url}/api/GetClaimDocument.php?document_id=${id}`, {
    headers: { authorization },
  });
  expect(reply.status).toBe(200);
  return Buffer.from(await reply.arrayBuffer());
}

const pdf = () =>
  Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(MAX_BYTES - 20, 0xe9), Buffer.from('\n%%EOF\n')]);

/** The scan of a photograph contains an escaped byte now and then. Here each second one is. */
function photo(): Buffer {
  const whole = jpeg();
  const scan = Buffer.alloc(MAX_BYTES - whole.length - 100, 'ff00', 'hex');
  return Buffer.concat([whole.subarray(0, -2), scan, whole.subarray(-2)]);
}

test.each([
  ['a PDF', pdf],
  ['a JPG whose scan is escaped', photo],
  [
    'a JPG of metadata',
    () =>
      jpeg(
        2,
        2,
        Array.from({ length: 79 }, () => jpegSegment(0xe1, Buffer.alloc(65_000))),
      ),
  ],
  [
    'a PNG of many small parts',
    () =>
      png(
        2,
        2,
        Array.from({ length: 9_000 }, () => pngChunk('tEXt', Buffer.alloc(500))),
      ),
  ],
])('%s of 5 MiB holds the event loop for less than 50 ms', async (_, make) => {
  const file = make();
  await takeHeldMs();
  const id = await add(file);
  const added = await takeHeldMs();
  const contents = await Promise.all(Array.from({ length: AT_ONCE }, () => get(id)));
  const read = await takeHeldMs();
  const hashes = contents.map((content) => createHash('sha256').update(content).digest('hex'));
  expect(new Set(hashes).size).toBe(1);
  process.stdout.write(
    `held for ${added.toFixed(0)} ms when it is added, ${read.toFixed(0)} when it is read\n`,
  );
  expect(added).toBeLessThan(MAX_HELD_MS);
  expect(read).toBeLessThan(MAX_HELD_MS);
});
