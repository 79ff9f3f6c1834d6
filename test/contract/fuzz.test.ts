import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { OperationId } from '../../src/platform/contract/types.js';
import { makeFuzzClient, type FuzzClient } from './fuzz/client.js';
import { faultsOf } from './fuzz/oracle.js';
import { makeHomes } from './fuzz/homes.js';
import { requestsOf, shown, type Home } from './fuzz/requests.js';
import { operationIds } from '../support/service/contract.js';
import { plantDispatch, plantLog } from '../support/builders/deliveries.js';
import { rounds } from '../support/harness/effort.js';
import { startService, type Service } from '../support/service/service.js';
import { plantUsers } from '../support/builders/users.js';

// npm run fuzz -- --requests 1000000 --seed 7
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? rounds(8_000, 20_000));
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
const TIMEOUT_MS = 240_000 + REQUESTS * 20;

// How often an operation is asked, where an ordinary one has 10.
const SHARES: Partial<Record<OperationId, number>> = {
  // after fifty failures an address is refused before a password is looked at
  login: 3,
  // a fifth of a second of a core each, for one password's hash or two
  changePassword: 0.5,
  manageTwoFactor: 1,
  manageUsers: 2,
  manageCouriers: 1.5,
  // drawn
  downloadCourierBill: 4,
  packageLabel: 4,
  // no input, and a large answer
  getContractJson: 0.5,
  getContractYaml: 0.5,
  getHealth: 1,
  getReadiness: 1,
};

type Tally = { sent: number; taken: number; refused: number; validRefused: number };

let service: Service;
let client: FuzzClient;
const tallies = new Map<OperationId, Tally>();
const runs = new Map<OperationId, Promise<void>>();

beforeAll(async () => {
  // All operations are fuzzed at once, and staff of one tenant have 80 % of the pool.
  service = await startService({ poolSize: 30 });
  client = makeFuzzClient(service);
  await plantUsers(service.owner, 40);
  // something that can be deleted
  for (let count = 0; count < 40; count += 1) await service.call('createManifest', { as: 'admin', body: {} });
  // somewhere to send webhooks to and to read customers from, and some webhooks that were sent
  await service.owner.query(`update couriers set api_url_add_package = 'https://partner.example/hooks',
    api_url_get_customers = 'https://partner.example/customers'`);
  for (let count = 0; count < 10; count += 1) {
    await plantLog(service.owner);
    await plantDispatch(service.owner);
  }
  const homes = await makeHomes(service.owner);
  const total = operationIds.reduce((sum, id) => sum + (SHARES[id] ?? 10), 0);
  // all at once, and each test waits for its own
  for (const id of operationIds) {
    const run = fuzz(id, Math.ceil((REQUESTS * (SHARES[id] ?? 10)) / total), homes);
    run.catch(() => {});
    runs.set(id, run);
  }
});

afterAll(async () => {
  await Promise.allSettled(runs.values());
  client.close();
  await service.stop();
  report();
}, TIMEOUT_MS);

async function fuzz(id: OperationId, numRuns: number, homes: Home[]): Promise<void> {
  const tally: Tally = { sent: 0, taken: 0, refused: 0, validRefused: 0 };
  tallies.set(id, tally);
  const holds = fc.asyncProperty(requestsOf(id, homes), async (request) => {
    const reply = await client.send(request);
    tally.sent += 1;
    // one that stays deactivated has all else refused before it is looked at
    if (id === 'manageCouriers') await service.owner.query('update couriers set is_active = true');
    if (reply.status < 400) tally.taken += 1;
    else tally.refused += 1;
    if (reply.status >= 400 && request.isMeantValid) tally.validRefused += 1;
    const faults = faultsOf(request, reply);
    if (faults.length > 0) throw new Error(`${faults.join('\n')}\nto ${shown(request)}`);
  });
  // its own seed: two operations that take the same numbers would only find each other's
  const seed = SEED + operationIds.indexOf(id);
  await fc.assert(holds, { seed, numRuns, interruptAfterTimeLimit: TIMEOUT_MS });
}

function report(): void {
  if (process.env['FUZZ_REQUESTS'] === undefined) return;
  for (const [id, { sent, taken, refused, validRefused }] of tallies) {
    const share = Math.round((taken / sent) * 100);
    process.stdout.write(
      `${id.padEnd(30)} ${sent} sent, ${taken} taken (${share} %), ${refused} refused, ${validRefused} of these meant as valid\n`,
    );
  }
}

test.each(operationIds)(
  '%s: whatever is sent, the answer is one that the contract declares, and what it allows is not called invalid',
  async (id) => {
    await runs.get(id);
    // An administrator's settings would lock the other callers out, so nobody who may change them is asked.
    if (id === 'updateSecuritySettings') expect(tallies.get(id)?.refused).toBeGreaterThan(0);
    else expect(tallies.get(id)?.taken).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

test('the gate sends 8,000 requests, and npm run test:long 20,000', () => {
  const sent = [...tallies.values()].reduce((sum, tally) => sum + tally.sent, 0);
  expect(sent).toBeGreaterThanOrEqual(Math.min(REQUESTS, rounds(8_000, 20_000)));
});
