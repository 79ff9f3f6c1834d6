import type { FastifyRequest } from 'fastify';
import type { Operation } from '../contract/types.js';
import { ApiError } from '../errors/errors.js';
import type { KeyCaller, UserCaller } from '../identity/callers.js';
import { holds } from './permissions.js';
import type { Secrets } from './secrets.js';
import type { Exemptions, Tokens } from './tokens.js';

/** What may be called with a one-time password, or without a second factor that the role requires. */
const EXEMPTIONS: Partial<Record<Operation['id'], Exemptions>> = {
  changePassword: { changesPassword: true, enrolsFactor: true },
  getTwoFactor: { enrolsFactor: true },
  manageTwoFactor: { enrolsFactor: true },
  // to log out; its other actions give the exemptions up
  manageSessions: { changesPassword: true, enrolsFactor: true },
};

/**
 * Who the request says it comes from, judged as far as that goes without the database: the token's signature,
 * its tenant and its role's permission. The database judges the rest in the transaction that does the work.
 *
 * @throws ApiError 401 or 403 as the contract's order of refusal has it
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
      return present(request, {
        kind: 'key',
        tenantId,
        keyHash: secrets.lookupHash(readKey(request), 'api_key'),
      });
    case 'token': {
      const caller = present(request, tokens.read(readToken(request)));
      if (caller.tenantId !== tenantId) throw new ApiError('token_invalid');
      if (!holds(caller.role, operation.permission))
        throw new ApiError('permission_denied', { args: { permission: operation.permission } });
      return { ...caller, ...EXEMPTIONS[operation.id] };
    }
  }
}

/** Notes whose credential it is before anything refuses it: the log names those who are refused. */
function present<Presented extends UserCaller | KeyCaller>(
  request: FastifyRequest,
  caller: Presented,
): Presented {
  request.presented = caller;
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
  // as: undeclared to the type, the query parser always makes an object
  const query = (request.query as Record<string, unknown>)['api_key'];
  const key = header ?? query;
  if (key === undefined || key === '') throw new ApiError('key_missing');
  return typeof key === 'string' ? key : JSON.stringify(key);
}
