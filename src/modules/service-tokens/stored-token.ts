import type { components } from '../../../generated/contract.js';
import type { Secrets } from '../../platform/access/secrets.js';
import { digestOf } from '../../platform/access/service-tokens.js';
import type { Secret } from './queries.js';

type Scope = components['schemas']['ServiceTokenScope'];

export const SCOPES_OF_STAFF = ['intake:write', 'manifests:write'] as const satisfies Scope[];

type ScopeOfCourier = Exclude<Scope, (typeof SCOPES_OF_STAFF)[number]>;

/** All that a token of a courier may have. A scope that is missing here is a type error. */
const COURIERS: Record<ScopeOfCourier, true> = {
  'packages:read': true,
  'prealerts:write': true,
  'customers:write': true,
  'webhooks:manage': true,
  'bills:read': true,
};
export const SCOPES_OF_COURIERS = Object.keys(COURIERS) as ScopeOfCourier[];

export const DEFAULT_DAYS = 365;
const HINT_LENGTH = 6;

/** Returns what is stored of a token. */
export function storedToken(secrets: Secrets, tenantId: string, rowId: string, token: string): Secret {
  const digest = digestOf(token);
  return {
    tokenHash: secrets.lookupHash(digest, 'service_token'),
    digestCipher: secrets.encrypt(digest, { tenantId, rowId, field: 'service_token' }),
    hint: token.slice(-HINT_LENGTH),
  };
}
