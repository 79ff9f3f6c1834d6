import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { OperationId } from '../../src/platform/contract/types.js';
import { encodeMultipart, MULTIPART } from './fuzz/bodies.js';
import { makeFuzzClient, type FuzzClient } from './fuzz/client.js';
import { makeHomes } from './fuzz/homes.js';
import { DAMAGE, damage } from './fuzz/multiparts.js';
import { faultsOf } from './fuzz/oracle.js';
import { encode, plansOf, shown, type FuzzRequest, type Home } from './fuzz/requests.js';
import { operationIds, operationOf } from '../support/service/contract.js';
import { startService, type Service } from '../support/service/service.js';
import { plantUsers } from '../support/builders/users.js';

const MULTIPARTS = 5_000;
const SEED = 20_261_121;

let service: Service;
let client: FuzzClient;
let homes: Home[];

beforeAll(async () => {
  service = await startService();
  client = makeFuzzClient(service);
  await plantUsers(service.owner, 40);
  homes = await makeHomes(service.owner);
});

afterAll(async () => {
  client.close();
  await service.stop();
});

const takes = (id: OperationId, mediaType: string) =>
  (operationOf(id).mediaTypes as readonly string[]).includes(mediaType);
const withBody = operationIds.filter((id) => operationOf(id).mediaTypes.length > 0);
const takers = withBody.filter((id) => takes(id, MULTIPART));

/** What is sent to those that take no multipart is as good as what is sent to those that do. */
function requestsTo(id: OperationId): fc.Arbitrary<FuzzRequest> {
  const isTaker = takers.includes(id);
  const plans = isTaker ? plansOf(id, homes, MULTIPART) : plansOf(id, homes);
  return plans.map((plan) => {
    const { bytes, contentType } = encodeMultipart(Object.entries(plan.body ?? { file: 'x' }));
    const request = encode(id, { ...plan, mediaType: MULTIPART }, false);
    return { ...request, headers: [['content-type', contentType]], body: bytes };
  });
}

// sent side by side, each lane with its own seed
const LANES = 8;

async function sendDamaged(
  id: OperationId,
  count: number,
  onStatus: (status: number) => void,
): Promise<void> {
  const damages = fc.array(DAMAGE, { minLength: 1, maxLength: 3 });
  const holds = fc.asyncProperty(requestsTo(id), damages, async (whole, broken) => {
    const request = damage(whole, broken);
    const reply = await client.send(request);
    const faults = faultsOf(request, reply);
    if (faults.length > 0) throw new Error(`${faults.join('\n')}\nto ${shown(request)}`);
    onStatus(reply.status);
  });
  const seed = SEED + operationIds.indexOf(id) * LANES;
  const lanes = Array.from({ length: LANES }, (_, lane) => seed + lane);
  await Promise.all(lanes.map((each) => fc.assert(holds, { seed: each, numRuns: Math.ceil(count / LANES) })));
}

test('an operation that takes no multipart refuses one before it reads it, whole or damaged', async () => {
  const ids = withBody.filter((id) => !takers.includes(id));
  for (const id of ids) {
    await sendDamaged(id, 40, (status) => expect([400, 413, 415]).toContain(status));
  }
}, 120_000);

// one test and not one for each operation: there may be none yet
test(`${MULTIPARTS} damaged multiparts are answered as the contract declares: no fault of ours, and none hangs`, async () => {
  let refused = 0;
  const share = Math.ceil(MULTIPARTS / Math.max(1, takers.length));
  await Promise.all(
    takers.map((id) => sendDamaged(id, share, (status) => (refused += status === 400 ? 1 : 0))),
  );
  if (takers.length > 0) expect(refused).toBeGreaterThan(MULTIPARTS / 4);
}, 300_000);
