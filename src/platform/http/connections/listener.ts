import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { Socket } from 'node:net';
import type { Config } from '../../../config/config.js';
import { limitConnections, openConnections } from '../../limits/connection-limit.js';
import type { SharedLimits } from '../../limits/shared/shared-limits.js';
import type { Forwarding } from './forwarded-headers.js';
import { overrideNodeResponses, respondToParserError, type OnSocketResponse } from './parser-errors.js';
import { limitPipelining, type Dispatch } from './pipelining.js';
import { normalizeRequestTarget, takeSandboxKey } from './request-target.js';
import type { UnreadLimits, UnreadReplies } from './unread-replies.js';

export type Timeouts = { headersMs: number; requestMs: number; unread?: Partial<UnreadLimits> };
const TIMEOUTS: Timeouts = { headersMs: 5_000, requestMs: 10_000 };

type ListenerDeps = {
  config: Pick<Config, 'tls' | 'maxConnectionsPerAddress'>;
  limits: SharedLimits;
  timeouts: Timeouts | undefined;
  forwarding: Forwarding;
  unread: UnreadReplies;
  onSocketResponse: OnSocketResponse;
  /** Called when a connection exceeds the limit of pipelined requests. */
  onPipelineOverflow: (socket: Socket) => void;
  /** Called when a client exceeds the limit of connections. */
  onConnectionRefused: (address: string) => void;
};

/**
 * Returns Fastify's server factory. It applies TLS, timeouts and the limits of connections and pipelining before a request
 * reaches Fastify. Fastify calls it for each address that it listens on: `localhost` has two.
 */
export function makeListener({ config, timeouts = TIMEOUTS, limits, ...deps }: ListenerDeps) {
  const { forwarding, unread, onSocketResponse, onPipelineOverflow, onConnectionRefused } = deps;
  const options = {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 500,
    // assertOneHost rejects these requests with a failure envelope instead.
    requireHostHeader: false,
  };
  const perHolder = config.maxConnectionsPerAddress;
  const connections = perHolder === undefined ? undefined : openConnections(limits, perHolder);
  return (handle: Dispatch): Server => {
    const limiter = limitPipelining(handle, { ...unread, overflowed: onPipelineOverflow });
    const dispatch: Dispatch = (request, response) => {
      normalizeRequestTarget(request);
      takeSandboxKey(request);
      limiter.dispatch(request, response);
    };
    const server = config.tls
      ? createHttpsServer({ ...readCertificate(config.tls), ...options }, dispatch)
      : createHttpServer(options, dispatch);
    overrideNodeResponses(server, onSocketResponse);
    server.on('clientError', (error, socket) => {
      if (socket instanceof Socket)
        limiter.endAfterReplies(socket, () => respondToParserError(error, socket, onSocketResponse));
    });
    if (connections)
      limitConnections(server, { connections, isExempt: forwarding.isTrusted, onConnectionRefused });
    return server;
  };
}

const readCertificate = ({ certFile, keyFile }: NonNullable<Config['tls']>) => ({
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
});
