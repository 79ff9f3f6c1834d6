import { errors } from 'undici';

/** Why there is no response. The names are those of the diagnoses of a check (openapi/diagnoses.yaml). */
export type FailureReason =
  | 'dns_missing'
  | 'dns_failed'
  | 'address_not_public'
  | 'host_not_listed'
  | 'url_refused'
  | 'timeout'
  | 'connection_refused'
  | 'connection_lost'
  | 'host_unreachable'
  | 'not_http'
  | 'certificate_expired'
  | 'certificate_wrong_name'
  | 'certificate_chain_incomplete'
  | 'certificate_untrusted'
  | 'tls_failed';

/** A target that was not called or not reached. The message appears in the courier's webhook log. */
export class TargetError extends Error {
  constructor(
    readonly outcome: 'timeout' | 'unreachable' | 'unsafe_target' | 'postponed',
    readonly reason: FailureReason,
    message: string,
    /** For `postponed`: the milliseconds until a retry. */
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

/** The address's rate limit is used up. */
export const postponed = (retryAfterMs: number) =>
  new TargetError('postponed', 'timeout', 'the rate limit of the address is used up', retryAfterMs);

type Failure = { reason: FailureReason; error: string };

const RESET: Failure = { reason: 'connection_lost', error: 'the connection was reset' };
const NOT_REACHED: Failure = { reason: 'host_unreachable', error: 'the host could not be reached' };
const NOT_HTTP: Failure = { reason: 'not_http', error: 'the response is not HTTP' };
const CHAIN: Failure = {
  reason: 'certificate_chain_incomplete',
  error: 'the intermediate certificates are missing',
};

// Reasons and messages for the courier, by the error codes of sockets, TLS and undici.
const FAILURES: Partial<Record<string, Failure>> = {
  ECONNREFUSED: { reason: 'connection_refused', error: 'the connection was refused' },
  ECONNRESET: RESET,
  EPIPE: RESET,
  UND_ERR_SOCKET: {
    reason: 'connection_lost',
    error: 'the connection was closed before a response arrived',
  },
  EHOSTUNREACH: NOT_REACHED,
  ENETUNREACH: NOT_REACHED,
  EADDRNOTAVAIL: NOT_REACHED,
  ETIMEDOUT: NOT_REACHED,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: NOT_HTTP,
  UND_ERR_HEADERS_OVERFLOW: { reason: 'not_http', error: 'the response headers are too long' },
  CERT_HAS_EXPIRED: { reason: 'certificate_expired', error: 'the certificate has expired' },
  CERT_NOT_YET_VALID: { reason: 'certificate_untrusted', error: 'the certificate is not valid yet' },
  CERT_REVOKED: { reason: 'certificate_untrusted', error: 'the certificate has been revoked' },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    reason: 'certificate_wrong_name',
    error: 'the certificate is for another host',
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: {
    reason: 'certificate_untrusted',
    error: 'the certificate is self-signed',
  },
  SELF_SIGNED_CERT_IN_CHAIN: {
    reason: 'certificate_untrusted',
    error: 'the certificate is from an authority that is not publicly trusted',
  },
  UNABLE_TO_GET_ISSUER_CERT: CHAIN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CHAIN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CHAIN,
};

export const codeOf = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';

/** Returns the reason, and a message that contains nothing about our own network: no address, port or path. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof TargetError) return { reason: error.reason, error: error.message };
  const code = codeOf(error);
  if (FAILURES[code]) return FAILURES[code];
  // Errors of undici's parser have no code from the table.
  if (error instanceof errors.HTTPParserError) return NOT_HTTP;
  if (/CERT|SIGNATURE|PURPOSE|CHAIN/.test(code))
    return { reason: 'certificate_untrusted', error: 'the certificate is not trusted' };
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return { reason: 'tls_failed', error: 'the TLS handshake failed' };
  return { reason: 'host_unreachable', error: 'the request failed' };
}
