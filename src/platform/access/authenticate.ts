import type { FastifyRequest } from 'fastify';
import type { Operation } from '../contract/types.js';
import { ApiError } from '../errors/errors.js';
import type { KeyCaller, UserCaller } from '../identity/callers.js';
import { hasPermission } from './permissions.js';
import type { Secrets } from './secrets.js';
import type { Exemptions, Tokens } from './tokens.js';

/** The operations that a user may call with a one-time password, or without the second factor that the role requires. */
const EXEMPTIONS: Partial<Record<Operation['id'], Exemptions>> = {
  changePassword: { changesPassword: true, enrolsFactor: true },
  getTwoFactor: { enrolsFactor: true },
  manageTwoFactor: { enrolsFactor: true },
  // Needed to log out. The handler drops the exemptions for its other actions.
  manageSessions: { changesPassword: true, enrolsFactor: true },
};

/**
 * Returns the caller that the request's credential names, or undefined for a public operation. Verifies what needs no
 * database: the token's signature, its tenant and its role's permission. The transaction that does the work verifies
 * the account itself.
 *
 * @throws ApiError 401 or 403, in the order that the contract defines
 */
export function authenticate(
  request: FastifyRequest,
  operation: Operation,
  tenantId: string,
  { tokens, secrets }: { tokens: Tokens; secrets: Secrets },
): UserCaller | KeyCaller | undefined {
  switch (operation.credential) {
    case 'none':
      return undefined;
    case 'key':
      return recordClaimedCaller(request, {
        kind: 'key',
        tenantId,
        keyHash: secrets.lookupHash(readKey(request), 'api_key'),
      });
    case 'token': {
      const caller = recordClaimedCaller(request, tokens.read(readToken(request)));
      if (caller.tenantId !== tenantId) throw new ApiError('token_invalid');
      if (!hasPermission(caller.role, operation.permission))
        throw new ApiError('permission_denied', { args: { permission: operation.permission } });
      return { ...caller, ...EXEMPTIONS[operation.id] };
    }
  }
}

/** Stores the caller on the request before any check, so that the log also attributes rejected requests. */
function recordClaimedCaller<Claimed extends UserCaller | KeyCaller>(
  request: FastifyRequest,
  caller: Claimed,
): Claimed {
  request.claimedCaller = caller;
  return caller;
}

function readToken(request: FastifyRequest): string {
  const header = request.headers.authorization;
  if (!header) throw new ApiError('token_missing');
  const [, token] = /^Bearer +([\w.-]+)$/i.exec(header) ?? [];
  if (!token) throw new ApiError('token_invalid');
  return token;
}

function readKey(request: FastifyRequest): string {
  const header = request.headers['x-api-key'];
  // The request type declares no query; Fastify's parser always returns an object.
  const query = (request.query as Record<string, unknown>)['api_key'];
  const key = header ?? query;
  if (key === undefined || key === '') throw new ApiError('key_missing');
  return typeof key === 'string' ? key : JSON.stringify(key);
}
