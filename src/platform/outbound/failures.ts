import { errors } from 'undici';

/** A target that was not called or not reached. The message appears in the courier's webhook log. */
export class TargetError extends Error {
  constructor(
    readonly outcome: 'timeout' | 'unreachable' | 'unsafe_target' | 'postponed',
    message: string,
    /** For `postponed`: the milliseconds until a retry. */
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

/** The address's rate limit is used up. */
export const postponed = (retryAfterMs: number) =>
  new TargetError('postponed', 'the rate limit of the address is used up', retryAfterMs);

// Messages for the courier, by the error codes of sockets, TLS and undici.
const MESSAGES: Partial<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed before a response arrived',
  EHOSTUNREACH: 'the host could not be reached',
  ENETUNREACH: 'the host could not be reached',
  EADDRNOTAVAIL: 'the host could not be reached',
  ETIMEDOUT: 'the host could not be reached',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response is not HTTP',
  UND_ERR_HEADERS_OVERFLOW: 'the response headers are too long',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate has been revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is from an authority that is not publicly trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'the intermediate certificates are missing',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the intermediate certificates are missing',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the intermediate certificates are missing',
};

export const codeOf = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';

/** Returns a message that contains nothing about our own network: no address, port or path. */
export function describeFailure(error: unknown): string {
  if (error instanceof TargetError) return error.message;
  const code = codeOf(error);
  if (MESSAGES[code]) return MESSAGES[code];
  // Errors of undici's parser have no code from the table.
  if (error instanceof errors.HTTPParserError) return 'the response is not HTTP';
  if (/CERT|SIGNATURE|PURPOSE|CHAIN/.test(code)) return 'the certificate is not trusted';
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'the TLS handshake failed';
  return 'the request failed';
}
