import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { describeOperation, operationOf } from '../../../support/service/contract.js';
import { makeCouriers, type Belongings } from '../../../support/builders/couriers.js';
import { startService, type Call, type Reply, type Service } from '../../../support/service/service.js';
import { CALLS } from '../../authorization/calls.js';
import { rows } from '../../authorization/matrix.js';
import { storeUsedUp } from './use-up.js';

// Every operation, called by somebody who may not write any more (decision 0131).

const LIMIT_MS = 180_000;
/** A process settles what it has granted after five seconds, and learns the level. */
const SETTLED_MS = 6_000;

let service: Service;
let iex: Belongings;

// Each process remembers levels, so each test has its own.
beforeEach(async () => {
  service = await startService({ poolSize: 20 });
  iex = (await makeCouriers(service.owner)).IEX;
}, LIMIT_MS);
afterEach(() => service.stop());

const isOfKeys = (operation: Parameters<typeof operationOf>[0]) =>
  operationOf(operation).credential === 'key';

const MESSAGES = {
  written_bytes: 'Your requests have written what they may',
  staff_written_bytes: 'The requests of the staff have together written what they may',
};

/** Whether an operation declares a refusal in these words. */
const declares = (operation: Parameters<typeof describeOperation>[0], variant: keyof typeof MESSAGES) =>
  JSON.stringify(describeOperation(operation).responses['429']?.content ?? {}).includes(MESSAGES[variant]);

const outcomeOf = ({ status, body }: Reply) => `${status} ${String(body['code'])}`;

async function callAll(): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {};
  for (const { title, operation } of rows) {
    if (operationOf(operation).credential === 'none') continue;
    const credential: Call = isOfKeys(operation) ? { key: DEMO.apiKeys.IEX } : { as: 'admin' };
    const base = await CALLS[title](iex, iex, service);
    outcomes[title] = outcomeOf(await service.call(operation, { ...base, ...credential }));
  }
  return outcomes;
}

/** Writes as each of the callers, so that this process learns their levels. */
async function learnLevels(): Promise<void> {
  const customer = (n: number) => ({
    ...{ user_code: `LEARN-${n}`, first_name: 'F', last_name: 'L', courier_id: DEMO.couriers.IEX },
  });
  expect((await service.call('createCustomer', { as: 'admin', body: customer(1) })).status).toBe(200);
  const announced = { UserCode: 'IEX-1001', TrackingNumber: 'LEARN-1' };
  for (const TrackingNumber of ['LEARN-1', 'LEARN-2'])
    expect(
      (
        await service.call('submitPrealert', {
          key: DEMO.apiKeys.IEX,
          body: { ...announced, TrackingNumber },
        })
      ).status,
    ).toBe(201);
  await sleep(SETTLED_MS);
}

test.each([
  ['the staff together', 'staff', DEMO.tenants.demo],
  ['a user', 'user', DEMO.users.admin],
] as const)(
  'what %s may write is used up: each operation that declares the quota is refused, and all others work',
  async (_who, kind, id) => {
    await storeUsedUp(service, [
      { kind, id },
      { kind: 'courier', id: DEMO.couriers.IEX },
    ]);
    await learnLevels();
    const outcomes = await callAll();
    const REFUSED = '429 quota_exceeded';
    const refused = Object.keys(outcomes).filter((title) => outcomes[title] === REFUSED);
    const operationsOf = (titles: string[]) => [
      ...new Set(rows.filter(({ title }) => titles.includes(title)).map(({ operation }) => operation)),
    ];
    const variant = kind === 'staff' ? 'staff_written_bytes' : 'written_bytes';
    const limited = operationsOf(rows.map(({ title }) => title)).filter(
      (operation) =>
        // A signed event has no credential: charges.test.ts.
        operation !== 'receiveFeedEvent' &&
        declares(operation, isOfKeys(operation) ? 'written_bytes' : variant),
    );
    expect(operationsOf(refused).sort()).toEqual(limited.sort());
    const failed = Object.entries(outcomes).filter(([, outcome]) => !/^(2|429 quota)/.test(outcome));
    // The rows of the matrix that fail whatever was written.
    expect(failed).toEqual([
      ['changePassword', '400 validation_failed'],
      ['end an unknown session', '404 session_not_found'],
      ['getSandboxLives', '409 not_a_sandbox'],
    ]);
  },
  LIMIT_MS,
);
