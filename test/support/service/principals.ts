import { DEMO } from '../../../fixtures/demo/seed.js';
import type { Call, Service } from './service.js';

export const PRINCIPALS = [
  'anonymous',
  'garbage token',
  'expired token',
  'admin',
  'manager',
  'warehouse',
  'iex',
  'hrb',
  'disabled',
  'two/admin',
  'two/two',
  'key IEX',
  'key TWO',
  'token IEX',
  'token staff',
] as const;

export type Principal = (typeof PRINCIPALS)[number];

/** Returns the credentials of a principal. */
export async function credentialsOf(service: Service, principal: Principal): Promise<Call> {
  switch (principal) {
    case 'anonymous':
      return {};
    case 'garbage token':
      return { token: 'not.a.token' };
    case 'expired token':
      return { token: await expiredToken(service) };
    case 'key IEX':
      return { key: DEMO.apiKeys.IEX };
    case 'key TWO':
      return { key: DEMO.apiKeys.TWO, host: DEMO.hosts.two };
    case 'token IEX':
      return { token: await serviceTokenOf(service, 'iex', SCOPES_OF_COURIERS) };
    case 'token staff':
      return { token: await serviceTokenOf(service, 'admin', SCOPES_OF_STAFF) };
    default:
      return { as: principal };
  }
}

export const SCOPES_OF_COURIERS = [
  'packages:read',
  'prealerts:write',
  'customers:write',
  'webhooks:manage',
  'bills:read',
];
export const SCOPES_OF_STAFF = [...SCOPES_OF_COURIERS, 'intake:write', 'manifests:write'];

/** Creates a service token of the user's courier, or of the staff. */
export async function serviceTokenOf(
  service: Service,
  as: string,
  scopes: readonly string[],
  name = `token of ${as}`,
): Promise<string> {
  const body = { action: 'create', name, scopes, current_password: DEMO.password };
  const created = await service.call('manageServiceTokens', { as, body });
  // The response validator has checked it.
  return created.body['data'].token as string;
}

/** A token that login issued to the administrator nine hours ago. */
async function expiredToken(service: Service): Promise<string> {
  const { rows } = await service.owner.query<{ token_version: number }>(
    'select token_version from users where id = $1',
    [DEMO.users.admin],
  );
  const admin = {
    tenantId: DEMO.tenants.demo,
    userId: DEMO.users.admin,
    role: 'admin' as const,
    courierId: null,
    tokenVersion: rows[0]?.token_version ?? 1,
  };
  return service.app.tokens.issue(admin, Math.floor(Date.now() / 1000) - 9 * 60 * 60);
}
