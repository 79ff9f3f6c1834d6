import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../errors/errors.js';

const hostsOfTargets = new WeakMap<IncomingMessage, string>();

/** `http://host:port/path`, without a user name, which no service has (RFC 9110, 4.2.4). */
const ABSOLUTE = /^https?:\/\/([^/?#@]+)(?=[/?]|$)/i;

/**
 * Turns the target `http://host/path` into `/path` before the router, the log and the handlers see it. assertOneHost
 * judges the host that it named.
 */
export function normalizeRequestTarget(request: IncomingMessage): void {
  const { url = '' } = request;
  if (url.startsWith('/') || url === '*') return;
  const [origin, host] = ABSOLUTE.exec(url) ?? [];
  hostsOfTargets.set(request, host ?? '');
  if (origin === undefined) return;
  const path = url.slice(origin.length);
  request.url = path.startsWith('/') ? path : `/${path}`;
}

/**
 * One host and no doubt about it, because the host chooses the tenant. With two, a proxy before us might have taken the
 * other (RFC 9112, 3.2, refuses both). A target that names another host than `Host` would win by RFC 9112, 3.2.2; such
 * a request is refused as well: no client sends one, and whoever judged it before us may have read either.
 *
 * @throws ApiError malformed_request
 */
export function assertOneHost(request: IncomingMessage): void {
  const { rawHeaders, httpVersion, headers } = request;
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts !== 1 && !(hosts === 0 && httpVersion === '1.0'))
    throw new ApiError('malformed_request', 'Send exactly one Host header.');
  const named = hostsOfTargets.get(request);
  if (named === undefined) return;
  if (named !== '' && named.toLowerCase() === headers.host?.toLowerCase()) return;
  throw new ApiError(
    'malformed_request',
    'Send the path alone, or a URL whose host is that of the Host header.',
  );
}
