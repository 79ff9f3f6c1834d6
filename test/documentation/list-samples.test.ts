import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { DEMO } from '../../fixtures/demo/seed.js';
import { makeParcels, newNumber } from '../support/builders/parcels.js';
import { findProgram, titleWith } from '../support/harness/programs.js';
import { startService, type Reply, type Service } from '../support/service/service.js';

const run = promisify(execFile);
const SAMPLES = join(projectRoot, 'docs/site/samples/lists');

let service: Service;
let parcels: ReturnType<typeof makeParcels>;
let proxy: Server;
let host: string;
/** What happens in the warehouse before each page is read. */
let between: () => Promise<void>;

beforeAll(async () => {
  service = await startService();
  parcels = makeParcels(service);
});
afterAll(() => service.stop());

beforeEach(async () => {
  proxy = createServer((request, response) => {
    forward(request).then(
      ({ status, bytes }) => response.writeHead(status, { 'content-type': 'application/json' }).end(bytes),
      () => response.destroy(),
    );
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  // The server listens at a port.
  host = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterEach(() => void proxy.close());

async function forward(request: IncomingMessage): Promise<Reply> {
  await between();
  return service.request('GET', request.url ?? '/', {
    headers: { authorization: request.headers.authorization ?? '' },
  });
}

const SAMPLE_PROGRAMS: [string, string, (call: string) => string[]][] = [
  [
    'Python',
    'python3',
    (call) => ['-c', `import json\nfrom read_all import read_all\nprint(json.dumps(read_all(${call})))`],
  ],
  [
    'JavaScript',
    'node',
    (call) => [
      '--input-type=module',
      '--eval',
      `import { readAll } from ${JSON.stringify(join(SAMPLES, 'read-all.mjs'))}; console.log(JSON.stringify(await readAll(${call})));`,
    ],
  ],
];

for (const [language, program, argumentsFor] of SAMPLE_PROGRAMS) {
  const missing = findProgram(program) ? [] : [program];
  (missing.length === 0 ? test : test.skip)(
    titleWith(`the sample in ${language} misses no pre-alert while others are received and deleted`, missing),
    async () => {
      const numbers = Array.from({ length: 12 }, newNumber);
      const ids: string[] = [];
      for (const number of numbers) ids.push(await parcels.announce('IEX', number));
      const deleted = ids.slice(0, 4);
      const rows = await parcels.select('select id from prealerts where courier_id = $1', [
        DEMO.couriers.IEX,
      ]);
      const kept = rows.map(({ id }) => String(id)).filter((id) => !deleted.includes(id));
      // They are on the first page, so that a deletion moves all others.
      await service.owner.query("update prealerts set created_at = '2020-01-01' where id = any($1)", [
        deleted,
      ]);
      between = async () => {
        // A received parcel leaves `status=pending`; a deleted one and a new one move the positions.
        const [number, id] = [numbers.pop(), deleted.pop()];
        if (number) await parcels.receive(number);
        if (id)
          expect(
            await service.call('deletePrealert', { as: 'iex', body: { prealert_id: id } }),
          ).toMatchObject({ status: 200 });
        await parcels.announce('IEX', newNumber());
      };
      const token = await service.freshTokenOf('iex');
      const call = `${JSON.stringify(host)}, ${JSON.stringify(token)}, 5`;
      const { stdout } = await run(program, argumentsFor(call), {
        cwd: SAMPLES,
        maxBuffer: 1e8,
        env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
      });
      const found = JSON.parse(stdout).map(({ prealert_id }: { prealert_id: string }) => prealert_id);
      expect(kept.filter((id) => !found.includes(id))).toEqual([]);
      expect(new Set(found).size).toBe(found.length);
    },
    60_000,
  );
}
