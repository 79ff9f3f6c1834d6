import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { afterAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { png, PNG_SIGNATURE, pngChunk, svg } from '../../../support/readers/pictures.js';
import { logIn } from '../../../support/service/client.js';
import { demoDatabase } from '../../../support/service/database.js';
import { MULTIPART_TYPE, multipartBody } from '../../../support/service/forms.js';
import { endProcesses, startReplica } from '../../../support/service/processes.js';

const { api } = withService({ drawing: { taskMs: 1_000, hourMs: 3_000 } });

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

/** Nested clip paths set by style: 8 to the power of 6. They take any time. */
const CLIPS = svg(
  `<clipPath id="c0"><rect width="9" height="9"/></clipPath>${Array.from(
    { length: 6 },
    (_, n) =>
      `<clipPath id="c${n + 1}">${`<rect style="clip-path:url(#c${n})" width="9" height="9"/>`.repeat(8)}</clipPath>`,
  ).join('')}<rect style="clip-path:url(#c6)" width="10" height="10"/>`,
);

const EMBEDDED = svg(
  `<image width="9" height="9" href="data:image/png;base64,${dense().toString('base64')}"/>`.repeat(700),
);
const MASKS = svg(
  `<mask id="m"><rect width="9" height="9" fill="#fff"/></mask>${'<g mask="url(#m)">'.repeat(90)}<rect width="9" height="9"/>${'</g>'.repeat(90)}`,
);

// Their pictures would be 2.8 GB each, of which a process got to 1.2 within the time of a drawing.
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
    expect(replies.map(({ status }) => status).slice(0, 1)).toEqual([400]);
    expect((memoryOf(pid, 'VmHWM') - beforeKb) / 1024).toBeLessThan(600);
    expect((await send(tokens[0], png(3, 3))).status).toBe(200);
  } finally {
    await endProcesses();
    await database.drop();
  }
}, 120_000);

const memoryOf = (pid: number, field: 'VmRSS' | 'VmHWM') =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

test('drawing the logos of a courier has a limit of time, and those that are refused count', async () => {
  const own = (file: Buffer | string) => api.as('iex').updateCourierSettings(multipart({ logo: { file } }));
  const byStaff = (file: Buffer) =>
    api.as('manager').uploadLogo(multipart({ logo: { file }, courier_id: DEMO.couriers.IEX }));
  await own(png()).ok();
  let refused = 0;
  while ((await own(CLIPS).answer()).status === 400) refused += 1;
  // At most the first begins without a part of the limit.
  expect([1, 2, 3]).toContain(refused);
  for (const call of [own(png(3, 3)), byStaff(png(3, 3))]) {
    const reply = await call.answer();
    expect([reply.status, reply.code]).toEqual([429, 'quota_exceeded']);
    expect(reply.message).toContain('may take 3 seconds per hour');
    expect(reply.headers.get('ratelimit-policy')).toContain('logo-drawing');
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(3_000);
  }
  await api
    .as('hrb')
    .updateCourierSettings(multipart({ logo: { file: png() } }))
    .ok();
}, 30_000);
