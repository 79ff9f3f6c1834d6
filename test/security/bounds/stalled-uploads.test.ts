import { afterEach, expect, test } from '@jest/globals';
import { operations } from '../../../generated/operations.js';
import { withService } from '../../support/fixture/with-service.js';
import { spooledSizes, spoolFiles } from '../../support/readers/spool-files.js';
import { assemble, MULTIPART_TYPE, toParts } from '../../support/service/forms.js';
import { until } from '../../support/service/processes.js';
import { openSocket, sendRaw } from '../../support/service/wire.js';

const { service } = withService();

const { path } = operations.uploadCustomers;
const MIB = 1024 * 1024;
const LARGE = assemble(toParts({ file: { file: Buffer.alloc(9 * MIB, 'code,a,b\n') } }));
const SMALL = assemble(toParts({ file: { file: 'h,h,h\nPART-1,a,b\n' } }));
/** Nearly: the sizes of the files do not contain the heads of the parts. */
const STALLED_FILE_BYTES = 8 * MIB - 1_024;

const upload = (token: string, body: Buffer) =>
  sendRaw(service().url, {
    method: 'POST',
    path,
    headers: { authorization: `Bearer ${token}`, 'content-type': MULTIPART_TYPE },
    body,
  });

// The response is sent before the spool files are deleted.
afterEach(() => until(async () => spoolFiles().length === 0, 10_000));

test('stalled uploads of one courier take at most 32 MiB, and other callers still upload', async () => {
  const [own, other] = [await service().tokenOf('iex'), await service().tokenOf('hrb')];
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Content-Type: ${MULTIPART_TYPE}`,
    `Content-Length: ${LARGE.length}`,
    `Authorization: Bearer ${own}`,
  ];
  const sockets = await Promise.all(Array.from({ length: 12 }, () => openSocket(service().url)));
  for (const socket of sockets) {
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.write(LARGE.subarray(0, 8 * MIB));
  }
  try {
    // Those of three fit. The others are refused before their files are read.
    await until(async () => spooledSizes().filter((size) => size >= STALLED_FILE_BYTES).length === 3, 20_000);
    const [refused, accepted] = await Promise.all([upload(own, LARGE), upload(other, LARGE)]);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'overloaded' });
    // Its rows are wrong, so they have been read.
    expect(accepted.status).toBe(400);
    expect(spooledSizes().reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(32 * MIB);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  await until(async () => spoolFiles().length === 0, 10_000);
  expect((await upload(own, SMALL)).status).toBe(200);
}, 60_000);
