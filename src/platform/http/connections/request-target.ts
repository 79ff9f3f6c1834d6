import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../errors/errors.js';

const hostsOfTargets = new WeakMap<IncomingMessage, string>();

/** `http://host:port/path`. User information is not accepted (RFC 9110, 4.2.4). */
const ABSOLUTE = /^https?:\/\/([^/?#@]+)(?=[/?]|$)/i;

/**
 * Converts the request target `http://host/path` to `/path` for the router, the log and the handlers. assertOneHost checks
 * the host.
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
 * Requires one unambiguous host, because the host selects the tenant. A proxy might have used the other one of two Host
 * headers (RFC 9112, 3.2, rejects both). By RFC 9112, 3.2.2, the host of an absolute target overrides `Host`; such a request
 * is rejected too, because no client sends one and a proxy may have used either host.
 *
 * @throws ApiError malformed_request
 */
export function assertOneHost(request: IncomingMessage): void {
  const { rawHeaders, httpVersion, headers } = request;
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts !== 1 && !(hosts === 0 && httpVersion === '1.0'))
    throw new ApiError('malformed_request', { variant: 'hosts' });
  const named = hostsOfTargets.get(request);
  if (named === undefined) return;
  if (named !== '' && named.toLowerCase() === headers.host?.toLowerCase()) return;
  throw new ApiError('malformed_request', { variant: 'target' });
}

const sandboxesOfTargets = new WeakMap<IncomingMessage, string>();

/** `/sandbox/<key>` before the path of an operation. Nothing else of the service is below it. */
const SANDBOX = /^\/sandbox\/([0-9a-z]{20})(?=\/api\/)/;

/** Converts the request target `/sandbox/<key>/api/...` to `/api/...`. `sandboxKeyOf` returns the key. */
export function takeSandboxKey(request: IncomingMessage): void {
  const { url = '' } = request;
  const [prefix, key] = SANDBOX.exec(url) ?? [];
  if (prefix === undefined || key === undefined) return;
  sandboxesOfTargets.set(request, key);
  request.url = url.slice(prefix.length);
}

/** Returns the key of the sandbox that a request is sent to; undefined for a live tenant. */
export const sandboxKeyOf = (request: IncomingMessage): string | undefined => sandboxesOfTargets.get(request);
