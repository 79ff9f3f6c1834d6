import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { operations } from '../../../generated/operations.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { whileInactive } from '../../support/harness/inactive-courier.js';
import { SCOPES_OF_COURIERS, SCOPES_OF_STAFF, serviceTokenOf } from '../../support/service/principals.js';
import { startService, type Service } from '../../support/service/service.js';

// A service token that has ended, or comes from another address, is refused by every operation that takes tokens.

let service: Service;
/** New tokens of a courier and of the staff, with all scopes that they may have. */
let tokens: Record<'iex' | 'admin', string>;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  await service.owner.query('delete from service_tokens');
  tokens = {
    iex: await serviceTokenOf(service, 'iex', SCOPES_OF_COURIERS),
    admin: await serviceTokenOf(service, 'admin', SCOPES_OF_STAFF),
  };
});

const scoped = Object.values(operations).filter(({ scopes }) => scopes.length > 0);
type Scoped = (typeof scoped)[number];

/** An operation for API keys works for the courier of the key. */
const tokenFor = ({ credential }: Scoped): string => tokens[credential === 'key' ? 'iex' : 'admin'];

/** Calls one operation after the other, so that none is refused by load. */
async function outcomesOf(called: Scoped[]): Promise<string[]> {
  const outcomes: string[] = [];
  for (const operation of called) {
    const { status, body } = await service.call(operation.id, { token: tokenFor(operation) });
    outcomes.push(`${operation.id} ${status} ${String(body['code'])}`);
  }
  return outcomes;
}

describe.each([
  ['was revoked', 'revoked_at = now()', '401 service_token_revoked'],
  ['has expired', "expires_at = now() - interval '1 second'", '401 service_token_expired'],
  [
    'was replaced by a rotation whose overlap is over',
    `previous_hash = token_hash, previous_digest_cipher = digest_cipher, previous_hint = hint,
     previous_ends_at = now() - interval '1 second', token_hash = reverse(token_hash)`,
    '401 service_token_replaced',
  ],
  ['comes from another address', "addresses = '{203.0.113.0/28}'", '403 address_not_allowed'],
])('a token that %s', (_state, assignment, refusal) => {
  test('is refused by every operation that takes tokens', async () => {
    expect((await outcomesOf(scoped)).filter((outcome) => outcome.endsWith(refusal))).toEqual([]);
    await service.owner.query(`update service_tokens set ${assignment}`);
    expect(await outcomesOf(scoped)).toEqual(scoped.map(({ id }) => `${id} ${refusal}`));
  });
});

test('a token of a disabled courier is refused by the operations for API keys', async () => {
  const ofKeys = scoped.filter(({ credential }) => credential === 'key');
  expect(ofKeys).not.toEqual([]);
  const outcomes = await whileInactive(service.owner, DEMO.couriers.IEX, () => outcomesOf(ofKeys));
  expect(outcomes).toEqual(ofKeys.map(({ id }) => `${id} 403 account_disabled`));
});
