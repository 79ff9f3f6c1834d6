import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { Socket } from 'node:net';
import type { Config } from '../../../config/config.js';
import { limitConnections } from './connection-limit.js';
import type { Forwarding } from './forwarded-headers.js';
import { overrideNodeResponses, respondToParserError, type OnSocketResponse } from './parser-errors.js';
import { limitPipelining, type Dispatch } from './pipelining.js';
import { normalizeRequestTarget } from './request-target.js';
import type { UnreadLimits, UnreadReplies } from './unread-replies.js';

export type Timeouts = { headersMs: number; requestMs: number; unread?: Partial<UnreadLimits> };
const TIMEOUTS: Timeouts = { headersMs: 5_000, requestMs: 10_000 };

type ListenerDeps = {
  config: Pick<Config, 'tls' | 'maxConnectionsPerAddress'>;
  timeouts: Timeouts | undefined;
  forwarding: Forwarding;
  unread: UnreadReplies;
  onSocketResponse: OnSocketResponse;
  /** A connection sent more requests at once than may wait. */
  onPipelineOverflow: (socket: Socket) => void;
  /** A client has as many connections as it may have. */
  onConnectionRefused: (address: string) => void;
};

/**
 * Makes Node's server, with what must hold before a request reaches the framework. Fastify calls it for each address
 * that it listens on: `localhost` has two.
 */
export function makeListener({ config, timeouts = TIMEOUTS, ...parts }: ListenerDeps) {
  const {
    forwarding,
    unread,
    onSocketResponse: onBareAnswer,
    onPipelineOverflow: onOverrun,
    onConnectionRefused: onRefusal,
  } = parts;
  const options = {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 500,
    // refused in the envelope instead, see assertOneHost
    requireHostHeader: false,
  };
  return (handle: Dispatch): Server => {
    const turns = limitPipelining(handle, { ...unread, overflowed: onOverrun });
    const dispatch: Dispatch = (request, response) => {
      normalizeRequestTarget(request);
      turns.dispatch(request, response);
    };
    const server = config.tls
      ? createHttpsServer({ ...readCertificate(config.tls), ...options }, dispatch)
      : createHttpServer(options, dispatch);
    overrideNodeResponses(server, onBareAnswer);
    server.on('clientError', (error, socket) => {
      if (socket instanceof Socket)
        turns.endAfterReplies(socket, () => respondToParserError(error, socket, onBareAnswer));
    });
    const perAddress = config.maxConnectionsPerAddress;
    if (perAddress !== undefined)
      limitConnections(server, { perAddress, isExempt: forwarding.isTrusted, onRefusal });
    return server;
  };
}

const readCertificate = ({ certFile, keyFile }: NonNullable<Config['tls']>) => ({
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
});
