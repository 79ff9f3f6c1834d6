import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/demo.js';
import { operations } from '../../generated/operations.js';
import { hasPermission } from '../../src/platform/access/permissions.js';
import { SCOPES_OF_COURIERS, SCOPES_OF_STAFF, serviceTokenOf } from '../support/service/principals.js';
import { startService, type Service } from '../support/service/service.js';

let service: Service;
/** One token per owner and scope. */
const tokens = new Map<string, string>();

beforeAll(async () => {
  service = await startService();
  for (const [user, scopes] of [
    ['iex', SCOPES_OF_COURIERS],
    ['admin', SCOPES_OF_STAFF],
  ] as const)
    for (const scope of scopes) {
      const body = { action: 'create', name: scope, scopes: [scope], current_password: DEMO.password };
      const { body: created } = await service.call('manageServiceTokens', { as: user, body });
      tokens.set(`${user} ${scope}`, String(created['data'].token));
    }
});
afterAll(() => service.stop());

const all = Object.values(operations).filter(({ credential }) => credential !== 'none');
const scopesOf = ({ scopes }: (typeof all)[number]): readonly string[] => scopes;
const scoped = all.filter((operation) => scopesOf(operation).length > 0);
const unscoped = all.filter((operation) => scopesOf(operation).length === 0);

/** The code of a refusal by the credential, the scope or the permission; `passed` for every other response. */
async function outcomeOf({ id }: (typeof all)[number], token: string): Promise<string> {
  const { body } = await service.call(id, { token });
  const code = String(body['code']);
  const isRefusal = /^(service_token_|token_|scope_missing|permission_denied|address_not_allowed)/.test(code);
  return isRefusal ? code : 'passed';
}

test('the contract names the scopes of couriers and of the staff, and no other', () => {
  expect(new Set(scoped.flatMap(scopesOf))).toEqual(new Set(SCOPES_OF_STAFF));
  expect(unscoped.map(({ id }) => id)).toEqual(
    expect.arrayContaining([
      'manageUsers',
      'manageSessions',
      'manageTwoFactor',
      'manageServiceTokens',
      'regenerateApiKey',
      'updateSecuritySettings',
      'listAuditEntries',
    ]),
  );
});

describe.each([
  ['iex', SCOPES_OF_COURIERS],
  ['admin', SCOPES_OF_STAFF],
] as const)('tokens of %s, one per scope', (user, scopes) => {
  test.each(scoped.map((operation) => [operation.id, operation] as const))(
    '%s accepts those with one of its scopes, and refuses the others with 403',
    async (_id, operation) => {
      const outcomes: string[] = [];
      const expected: string[] = [];
      for (const scope of scopes) {
        outcomes.push(`${scope}: ${await outcomeOf(operation, tokens.get(`${user} ${scope}`) ?? '')}`);
        expected.push(`${scope}: ${expectedOf(operation, user, scope)}`);
      }
      expect(outcomes).toEqual(expected);
    },
  );

  test('an operation without scopes refuses every token with 403 token_not_accepted', async () => {
    const passed: string[] = [];
    for (const operation of unscoped)
      for (const scope of scopes) {
        const outcome = await outcomeOf(operation, tokens.get(`${user} ${scope}`) ?? '');
        if (outcome !== 'token_not_accepted') passed.push(`${operation.id} ${scope}: ${outcome}`);
      }
    expect(passed).toEqual([]);
  });
});

/** The scope is compared by the database, so a refusal by it comes before one by the permission. */
function expectedOf(operation: (typeof all)[number], user: 'iex' | 'admin', scope: string): string {
  if (!scopesOf(operation).includes(scope)) return 'scope_missing';
  if (operation.credential === 'key') return user === 'iex' ? 'passed' : 'token_not_accepted';
  const { permission } = operation;
  return user === 'admin' || permission === null || hasPermission('courier', permission)
    ? 'passed'
    : 'permission_denied';
}

test('a token of a courier with a scope of the staff has no right that a user of the courier lacks', async () => {
  const token = await serviceTokenOf(service, 'iex', ['packages:read']);
  const { rows } = await service.owner.query<{ id: string }>(
    "select id from service_tokens where name = 'token of iex'",
  );
  await service.owner.query('alter table service_tokens drop constraint couriers_have_no_scope_of_staff');
  await service.owner.query(
    `update service_tokens set scopes = '{intake:write,manifests:write}' where id = $1`,
    [rows[0]?.id],
  );
  const outcomes: Record<string, string> = {};
  for (const operation of scoped) outcomes[operation.id] = await outcomeOf(operation, token);
  expect(outcomes).toMatchObject({
    receivePackage: 'permission_denied',
    sendScans: 'permission_denied',
    createManifest: 'permission_denied',
    claimLabelJobs: 'permission_denied',
  });
});
