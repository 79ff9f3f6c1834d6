import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { projectRoot } from '../../src/config/project-root.js';
import { makeParcels, newNumber } from '../support/builders/parcels.js';
import { findProgram, titleWith } from '../support/harness/programs.js';
import { startService, type Service } from '../support/service/service.js';

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
  proxy = createServer(async (request, response) => {
    await between();
    const { status, bytes } = await service.request('GET', request.url ?? '/', {
      headers: { authorization: request.headers.authorization ?? '' },
    });
    response.writeHead(status, { 'content-type': 'application/json' }).end(bytes);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  // The server listens at a port.
  host = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterEach(() => void proxy.close());

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
      const [deleted, kept] = [ids.slice(0, 4), ids.slice(4)];
      between = async () => {
        // A received parcel leaves `status=pending`; a deleted one and a new one move the positions.
        const [number, id] = [numbers.pop(), deleted.pop()];
        if (number) await parcels.receive(number);
        if (id) await service.call('deletePrealert', { as: 'iex', body: { prealert_id: id } });
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
