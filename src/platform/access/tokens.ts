import jwt from '@fastify/jwt';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { TokenConfig } from '../../config/config.js';
import { UUID } from '../contract/keywords.js';
import { ApiError } from '../errors/errors.js';
import type { PersonCaller, Role } from '../identity/callers.js';

/** Lifetime of an access token in seconds: 8 hours, as the contract states. */
export const TOKEN_LIFETIME_S = 8 * 60 * 60;

export type Tokens = {
  /** Returns a signed token. @param nowS seconds since the epoch by the database's clock, which also decides the expiry */
  issue(user: Omit<PersonCaller, 'kind' | 'expiresAt' | keyof Exemptions>, nowS: number): string;
  /** Verifies a token, except for its expiry: that is checked with the database's clock. @throws ApiError token_invalid */
  read(token: string): Readonly<PersonCaller>;
};

/** The account requirements that an operation waives. They depend on the operation, not on the token. */
export type Exemptions = Pick<PersonCaller, 'changesPassword' | 'enrolsFactor'>;

type Claims = {
  sub: string;
  tenant: string;
  role: Role;
  courier: string | null;
  version: number;
  session?: string | undefined;
  exp: number;
};

type Signer = { sign(payload: object): string; verify(token: string): Claims };

/** Registers HS256 tokens with a key id. The first configured key signs and all keys verify, so that keys can be rotated. */
export async function registerTokens(app: FastifyInstance, config: TokenConfig): Promise<Tokens> {
  const issuer = `crossdock/${config.deployment}`;
  for (const { id, secret } of config.keys) {
    await app.register(jwt, {
      namespace: id,
      secret,
      sign: { algorithm: 'HS256', kid: id, iss: issuer, aud: issuer },
      verify: {
        algorithms: ['HS256'],
        allowedIss: issuer,
        allowedAud: issuer,
        ignoreExpiration: true,
        requiredClaims: ['exp', 'sub'],
      },
    });
  }
  // The plugin can type only namespaces with fixed names, and the key ids come from the configuration.
  const signers = app.jwt as unknown as Record<string, Signer>;
  const newest = config.keys[0]?.id ?? '';
  const verified = new LRUCache<string, Readonly<PersonCaller>>({ max: MAX_VERIFIED });

  return {
    issue({ tenantId, userId, role, courierId, tokenVersion, sessionId }, nowS) {
      const claims: Claims = {
        sub: userId,
        tenant: tenantId,
        role,
        courier: courierId,
        version: tokenVersion,
        session: sessionId,
        exp: nowS + TOKEN_LIFETIME_S,
      };
      return signers[newest]?.sign({ ...claims, iat: nowS }) ?? '';
    },

    read(token) {
      const known = verified.get(token);
      if (known) return known;
      const caller = Object.freeze(verify(signers, token));
      verified.set(token, caller);
      return caller;
    },
  };
}

/**
 * The tokens whose signature a process has verified and need not verify again: 50 µs per request. What they claim is compared with the
 * database in each transaction, so a token that was revoked or has expired is refused all the same.
 */
const MAX_VERIFIED = 2_000;

function verify(signers: Record<string, Signer>, token: string): PersonCaller {
  try {
    const signer = signers[keyIdOf(token)];
    if (!signer) throw new ApiError('token_invalid');
    const claims = assertWellFormed(signer.verify(token));
    return {
      kind: 'user',
      tenantId: claims.tenant,
      userId: claims.sub,
      role: claims.role,
      courierId: claims.courier,
      tokenVersion: claims.version,
      sessionId: claims.session,
      expiresAt: claims.exp,
    };
  } catch {
    throw new ApiError('token_invalid');
  }
}

/** A token that was signed with a leaked key may contain anything, and PostgreSQL would refuse other types with an error of its own. */
function assertWellFormed(claims: Claims): Claims {
  const { sub, tenant, role, courier, version, session, exp } = claims;
  const ids: unknown[] = [sub, tenant, courier ?? sub, session ?? sub];
  const isWellFormed =
    ids.every((id) => typeof id === 'string' && UUID.test(id)) &&
    typeof role === 'string' &&
    isCount(version, 2 ** 31) &&
    // The year 5138. PostgreSQL knows no times after the year 294276.
    isCount(exp, 1e11);
  if (!isWellFormed) throw new ApiError('token_invalid');
  return { ...claims, courier: courier ?? null };
}

const isCount = (value: unknown, limit: number): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < limit;

function keyIdOf(token: string): string {
  const header: unknown = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
  const kid = (header as { kid?: unknown } | null)?.kid;
  return typeof kid === 'string' ? kid : '';
}
