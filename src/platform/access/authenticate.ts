import type { FastifyRequest } from 'fastify';
import type { Operation } from '../contract/types.js';
import { ApiError } from '../errors/errors.js';
import type { KeyCaller, TokenCaller, UserCaller } from '../identity/callers.js';
import { hasPermission } from './permissions.js';
import { assertUserOfPage, readSessionCookie } from './session-cookie.js';
import type { Secrets } from './secrets.js';
import { digestOf, looksLikeServiceToken, readServiceToken } from './service-tokens.js';
import type { Exemptions, Tokens } from './tokens.js';

/** The operations that a user may call with a one-time password, or without the second factor that the role requires. */
const EXEMPTIONS: Partial<Record<Operation['id'], Exemptions>> = {
  changePassword: { changesPassword: true, enrolsFactor: true },
  // The console has the session of every user in the cookie.
  getDeviceSession: { changesPassword: true, enrolsFactor: true },
  createDeviceSession: { changesPassword: true, enrolsFactor: true },
  getTwoFactor: { enrolsFactor: true },
  manageTwoFactor: { enrolsFactor: true },
  // Needed to log out.
  manageSessions: { changesPassword: true, enrolsFactor: true },
};

/** The only action of an operation that its exemptions are for. */
const EXEMPT_ACTIONS: Partial<Record<Operation['id'], string>> = { manageSessions: 'logout' };

/** Returns whether the action, which is known once the body has been read, has no exemption although its operation has. */
export function losesExemptions({ id }: Operation, body: unknown): boolean {
  const exempt = EXEMPT_ACTIONS[id];
  if (exempt === undefined || typeof body !== 'object' || body === null) return false;
  return 'action' in body && body.action !== exempt;
}

/**
 * Returns the caller that the request's credential names, or undefined for a public operation. Verifies what needs no
 * database: the token's signature and its tenant. The transaction that does the work compares the account, the role and the
 * courier with the database.
 *
 * @throws ApiError 401
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
    case 'key': {
      // A client may send the token of a user to every operation. The key counts if there is one.
      const sent = keyIn(request) === undefined ? serviceTokenIn(request) : undefined;
      if (sent !== undefined)
        return recordClaimedCaller(request, tokenCaller(request, operation, { sent, tenantId, secrets }));
      return recordClaimedCaller(request, {
        kind: 'key',
        tenantId,
        keyHash: secrets.lookupHash(readKey(request), 'api_key'),
        address: request.clientAddress,
      });
    }
    case 'token': {
      const sent = serviceTokenIn(request);
      if (sent !== undefined)
        return recordClaimedCaller(request, tokenCaller(request, operation, { sent, tenantId, secrets }));
      const cookie = readSessionCookie(request);
      const caller = recordClaimedCaller(request, tokens.read(cookie ?? readToken(request)));
      if (cookie !== undefined) assertUserOfPage(request, operation, caller);
      if (caller.tenantId !== tenantId) throw new ApiError('token_invalid');
      return { ...caller, ...EXEMPTIONS[operation.id] };
    }
  }
}

function serviceTokenIn({ headers }: FastifyRequest): string | undefined {
  const [, sent] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  return sent !== undefined && looksLikeServiceToken(sent) ? sent : undefined;
}

/** Characters of a secret that people may see, to tell one from another. */
const HINT_LENGTH = 6;

/** What keys and tokens consist of. Anything else was invented, and may be text that no database takes. */
const HINT = /^[\w-]+$/;

/** Returns the end of the API key or the service token that was sent. Null if there is none. */
export function hintOf(request: FastifyRequest): string | null {
  const sent = keyIn(request) ?? serviceTokenIn(request);
  if (typeof sent !== 'string' || sent.length <= 2 * HINT_LENGTH) return null;
  const end = sent.slice(-HINT_LENGTH);
  return HINT.test(end) ? end : null;
}

type SentToken = { sent: string; tenantId: string; secrets: Secrets };

/** @throws ApiError service_token_invalid if the token is damaged */
function tokenCaller(
  { clientAddress }: FastifyRequest,
  { scopes }: Operation,
  { sent, tenantId, secrets }: SentToken,
): TokenCaller {
  const claims = readServiceToken(sent);
  if (!claims) throw new ApiError('service_token_invalid');
  return {
    kind: 'token',
    tenantId,
    ...claims,
    role: claims.courierId === null ? 'warehouse' : 'courier',
    userId: claims.tokenId,
    keyHash: secrets.lookupHash(digestOf(sent), 'service_token'),
    scopes,
    address: clientAddress,
  };
}

/**
 * Refuses early what the claimed role does not permit. A role that the database does not confirm is refused with 401 instead:
 * by the transaction that does the work, or before this refusal is sent.
 *
 * @throws ApiError permission_denied, token_not_accepted
 */
export function assertPermitted(caller: UserCaller | KeyCaller | undefined, operation: Operation): void {
  if (caller?.kind === 'token') assertAcceptsTokens(caller, operation);
  // Its scopes say what a token of the staff may do. A courier's never exceeds the rights of a courier's user.
  if (!caller || caller.kind === 'key' || (caller.kind === 'token' && caller.courierId === null)) return;
  const { permission } = operation;
  if (!permission || hasPermission(caller.role, permission)) return;
  throw new ApiError('permission_denied', { args: { permission } });
}

function assertAcceptsTokens({ courierId }: TokenCaller, { credential, scopes }: Operation): void {
  if (scopes.length === 0) throw new ApiError('token_not_accepted');
  // An operation for API keys works for the courier of the key.
  if (credential === 'key' && courierId === null)
    throw new ApiError('token_not_accepted', { variant: 'couriers_only' });
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
  if (!header)
    throw keyIn(request)
      ? new ApiError('token_missing', { variant: 'key_sent' })
      : new ApiError('token_missing');
  const [, token] = /^Bearer +([\w.-]+)$/i.exec(header) ?? [];
  if (API_KEY.test(header.trim())) throw new ApiError('token_invalid', { variant: 'key_sent' });
  if (!token) throw new ApiError('token_missing', { variant: 'no_scheme' });
  return token;
}

/** An API key, perhaps with a scheme in front and in quotation marks. Only the form is known here: it is not looked up. */
const API_KEY = /^(?:[\w-]+[ =:]+)?["']?[0-9a-f]{64}["']?$/i;
/** Three parts of base64url, perhaps with the scheme in front. */
const ACCESS_TOKEN = /^(Bearer +)?[\w-]+\.[\w-]+\.[\w-]+$/i;

const keyIn = ({ headers, query }: FastifyRequest): unknown =>
  // The request type declares no query; Fastify's parser always returns an object.
  headers['x-api-key'] ?? (query as Record<string, unknown>)['api_key'];

function readKey(request: FastifyRequest): string {
  const key = keyIn(request);
  if (key === undefined || key === '') throw keyMissing(request.headers.authorization);
  if (typeof key === 'string' && looksLikeServiceToken(key))
    throw new ApiError('key_invalid', { variant: 'service_token_sent' });
  if (typeof key === 'string' && ACCESS_TOKEN.test(key))
    throw new ApiError('key_invalid', { variant: 'token_sent' });
  return typeof key === 'string' ? key : JSON.stringify(key);
}

function keyMissing(authorization: string | undefined): ApiError {
  if (!authorization) return new ApiError('key_missing');
  const variant = API_KEY.test(authorization.trim()) ? 'key_as_token' : 'token_sent';
  return new ApiError('key_missing', { variant });
}
