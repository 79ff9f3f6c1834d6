import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LogController } from 'fastify';
import type { KeyCaller, UserCaller } from '../identity/callers.js';
import type { FailureCode } from '../errors/errors.js';

declare module 'fastify' {
  interface FastifySchema {
    /** Of the contract's operation behind a route. */
    operationId?: string;
  }

  interface FastifyRequest {
    /** Who the credential says it is, whether it was admitted or not. */
    presented?: UserCaller | KeyCaller;
    /** Of the reply, when it is a failure. */
    failureCode?: FailureCode | undefined;
  }
}

/** Enough of a keyed hash to find the courier by, and too little to be the key. */
const KEY_ID_LENGTH = 12;

/** Whom a request is attributed to: fields of its log lines. No credential is among them. */
export function attributionOf({ tenantId, presented, failureCode }: FastifyRequest): Record<string, string> {
  return defined({
    tenantId,
    ...callerFields(presented),
    // a token of another tenant, sent to this one's host
    callerTenantId: presented?.tenantId === tenantId ? undefined : presented?.tenantId,
    code: failureCode,
  });
}

function callerFields(caller: UserCaller | KeyCaller | undefined): Record<string, string | undefined> {
  if (!caller) return {};
  if (caller.kind === 'key') return { keyId: caller.keyHash.slice(0, KEY_ID_LENGTH) };
  const { userId, role, courierId } = caller;
  return { userId, role, courierId: courierId ?? undefined };
}

const defined = (fields: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

/** Fastify's own lines, but that the end of a request says whom it is attributed to and how it ended. */
export const makeLogController = (): LogController =>
  Object.assign(new LogController(), {
    requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
      const fields = {
        req: request,
        res: reply,
        responseTime: reply.elapsedTime,
        ...attributionOf(request),
      };
      if (error) request.log.error({ ...fields, err: error }, 'request errored');
      else request.log.info(fields, 'request completed');
    },
  });

/** To be called before there is any other hook, which might throw. */
export function attributeRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const operationId = request.routeOptions.schema?.operationId;
    if (operationId) request.log = reply.log = request.log.child({ operationId });
    // the framework says nothing of a client that leaves before it has its reply
    reply.raw.once('close', () => {
      if (reply.raw.writableFinished) return;
      request.log.info(
        { req: request, responseTime: reply.elapsedTime, ...attributionOf(request) },
        'request aborted',
      );
    });
    done();
  });
}

/** What a log line says of a request: never its query, where a key may stand, and never its headers. */
export function describeRequest({ method, url, headers, clientAddress }: FastifyRequest) {
  // a query that was encoded once too often is still a query
  const path = url.split(/\?|%3f/i)[0];
  return { method, path, host: headers.host, address: clientAddress };
}
