import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../../config/config.js';
import { recordOutages } from '../../logging/outages.js';
import type { Forwarding } from './forwarded-headers.js';

type Report = {
  config: Pick<Config, 'trustProxy'>;
  forwarding: Forwarding;
  /** Whether the request is refused because it is not HTTPS. */
  isRefused: (request: FastifyRequest) => boolean;
  /** Counts a request that is refused because its proxy is not trusted. */
  onRefused: () => void;
};

/**
 * Logs requests with the headers of a proxy from an address outside of TRUST_PROXY, at most once per minute: without TLS all of
 * them are refused, while /ready, which needs no HTTPS, responds with 200. The limit holds for all addresses together, so that
 * strangers who reach the port cannot fill the log.
 *
 * Without TRUST_PROXY the service has no proxy. It serves TLS itself, to strangers who may send any header, and logs nothing.
 */
export function reportUntrustedProxies(
  app: FastifyInstance,
  { config, forwarding, isRefused, onRefused }: Report,
): void {
  if (config.trustProxy.length === 0) return;
  const trustProxy = config.trustProxy.join(',');
  // One reason for all addresses. It never ends: a request of another proxy says nothing about this one.
  const record = recordOutages<{ reason: string; address: string }>({
    failed: ({ address }, requests) =>
      app.log.warn(
        { event: 'proxy.untrusted', address, trustProxy, requests },
        'TRUST_PROXY does not contain the address of this proxy, so its X-Forwarded headers are ignored',
      ),
    ended: () => undefined,
  });
  app.addHook('onRequest', async (request) => {
    const address = forwarding.untrustedProxyOf(request.raw);
    if (address === undefined) return;
    record({ reason: 'untrusted', address });
    if (isRefused(request)) onRefused();
  });
}
