import { deflateSync, inflateSync } from 'node:zlib';
import { afterAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { memoryOf } from '../../../support/attacks/process-memory.js';
import { png, PNG_SIGNATURE, pngChunk, svg } from '../../../support/readers/pictures.js';
import { logIn } from '../../../support/service/client.js';
import { demoDatabase } from '../../../support/service/database.js';
import { MULTIPART_TYPE, multipartBody } from '../../../support/service/forms.js';
import { CLIP_BOMB } from './hostile-drawings.js';
import { endProcesses, startReplica } from '../../../support/service/processes.js';

const { api } = withService({ drawing: { taskMs: 2_000, hourMs: 6_000 } });

afterAll(endProcesses);

/** A PNG of a million pixels of one bit in about 200 bytes. */
function dense(): Buffer {
  const [width, height] = [100, 10_000];
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  const pixels = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height), { level: 9 });
  return Buffer.concat([PNG_SIGNATURE, pngChunk('IHDR', header), pngChunk('IDAT', pixels), pngChunk('IEND')]);
}

const EMBEDDED = svg(
  `<image width="9" height="9" href="data:image/png;base64,${dense().toString('base64')}"/>`.repeat(700),
);
const MASKS = `<svg xmlns="http://www.w3.org/2000/svg" width="750" height="270" viewBox="0 0 750 270"><mask id="m" maskUnits="userSpaceOnUse" x="-1500" y="-540" width="4500" height="1620"><rect width="3000" height="1080" fill="white"/></mask>${'<g mask="url(#m)">'.repeat(90)}<rect width="3000" height="1080"/>${'</g>'.repeat(90)}</svg>`;

// The pictures have 2.8 GB when they are drawn, of which a process got to 1.2 within the time of a drawing, and the masks 400 MB.
test('an SVG of many embedded pictures or masks takes little memory, and is refused', async () => {
  const database = await demoDatabase();
  try {
    const replica = await startReplica({ DATABASE_URL: database.ownerUrl });
    const tokens = await Promise.all(['iex', 'hrb'].map((user) => logIn(replica.url, user)));
    const send = (token: string | undefined, logo: string | Buffer) =>
      fetch(`${replica.url}/api/CourierSettingsAPI.php`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': MULTIPART_TYPE },
        body: new Uint8Array(multipartBody({ logo: { file: logo } })),
      });
    expect((await send(tokens[0], png())).status).toBe(200);
    const pid = replica.child.pid ?? 0;
    const beforeKb = memoryOf(pid, 'VmRSS');
    const replies = await Promise.all(
      tokens.flatMap((token) => [EMBEDDED, MASKS].map((logo) => send(token, logo))),
    );
    // On a slow machine, the queue may refuse the later ones.
    const statuses = new Set(replies.map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 503)).toEqual([400]);
    expect((memoryOf(pid, 'VmHWM') - beforeKb) / 1024).toBeLessThan(450);
    expect((await send(tokens[0], png(3, 3))).status).toBe(200);
  } finally {
    await endProcesses();
    await database.drop();
  }
}, 120_000);

/** A progressive JPG of 4,000 x 4,000 pixels with full colours, the largest that a decoder of logos needs memory for. */
const PROGRESSIVE = inflateSync(
  Buffer.from(
    'eNrt3TsKAkEQBNCanWQDQQe8j4Eg6Ck9i3gIXRNvMn4yMVAQjN7rqCvooC9Q/dSvWew2201KScp90i9Z37ff9EPaON/P97W0DC21pR+zfNx/9UgX7+mUWS0ZUgMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAD8QZ8ylpKy8goAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAICPnt3Qg25oAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAbzy7oatuaAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgG/08w3vDhit',
    'base64',
  ),
);

describe('with time for a busy machine', () => {
  const patient = withService({ drawing: { taskMs: 20_000, hourMs: 60_000 } });

  test('the memory of a drawing is enough for the largest progressive JPG', async () => {
    await patient.api
      .as('two/two')
      .updateCourierSettings(multipart({ logo: { file: PROGRESSIVE } }))
      .ok();
  }, 30_000);
});

test('drawing the logos of a courier has a limit of time, and those that are refused count', async () => {
  const own = (file: Buffer | string) => api.as('iex').updateCourierSettings(multipart({ logo: { file } }));
  const byStaff = (file: Buffer) =>
    api.as('manager').uploadLogo(multipart({ logo: { file }, courier_id: DEMO.couriers.IEX }));
  await own(png()).ok();
  let refused = 0;
  while ((await own(CLIP_BOMB).answer()).status === 400) refused += 1;
  // At most the first begins without a part of the limit.
  expect([1, 2, 3]).toContain(refused);
  for (const call of [own(png(3, 3)), byStaff(png(3, 3))]) {
    const reply = await call.answer();
    expect([reply.status, reply.code]).toEqual([429, 'quota_exceeded']);
    expect(reply.message).toContain('may take 6 seconds per hour');
    expect(reply.headers.get('ratelimit-policy')).toContain('logo-drawing');
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(3_000);
  }
  await api
    .as('hrb')
    .updateCourierSettings(multipart({ logo: { file: png() } }))
    .ok();
}, 30_000);
