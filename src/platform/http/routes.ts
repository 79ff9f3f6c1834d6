import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Handlers } from '../../../generated/handlers.js';
import { operations, type OperationId } from '../../../generated/operations.js';
import type { ContractRoute } from '../contract/bundle.js';
import { withSpan } from '../db/database.js';
import { sendSessionCookie } from '../access/session-cookie.js';
import { readStationCookie, sendStationCookie } from '../access/station-cookie.js';
import { ApiError } from '../errors/errors.js';
import {
  sendHttpResponse,
  toHttpResponse,
  type HttpResponse,
  type HandlerResult,
} from './replies/responses.js';
import { bodyBytesOf } from './bodies/body-limits.js';
import { respondToPerson } from './documents/pages-for-people.js';
import { DOCUMENT_METHODS, toDocumentResponse } from './documents/static-documents.js';
import { sendError } from './replies/error-handler.js';
import { sentMediaType } from './bodies/forms.js';
import { makeAuthorizationHook, makePreValidationHook, type HookDeps } from './request-hooks.js';
import { runIdempotent } from '../idempotency/idempotent-request.js';
import { logSecretReads } from './log-secret-reads.js';
import { withUploads } from './bodies/uploads.js';
import { withinAllowance } from './within-allowance.js';

/**
 * Registers a route for every operation of the contract.
 *
 * @param documents the paths of the documentation, which have routes already
 * @throws if an operation has no handler
 */
export function registerRoutes(
  app: FastifyInstance,
  routes: ContractRoute[],
  handlers: Handlers,
  parts: HookDeps,
  documents: string[],
): void {
  app.addHook('onRoute', (route) => {
    const id = (route.schema as { operationId?: OperationId } | undefined)?.operationId;
    if (!id) return;
    const operation = operations[id];
    route.onRequest = makeAuthorizationHook(operation, parts);
    route.preValidation = makePreValidationHook(operation, parts);
    // Limits a body without Content-Length, whose size is known only once it is read.
    route.bodyLimit = bodyBytesOf(operation);
  });
  for (const { method, url, schema } of routes)
    app.route({ method, url, schema, handler: toRouteHandler(schema.operationId, handlers, parts) });
  const refuse = makeNotFoundHandler(documents);
  // Before the body is read: an unknown path is the first reason to refuse a request.
  app.addHook('onRequest', async (request, reply) => (request.is404 ? refuse(request, reply) : undefined));
  app.setNotFoundHandler(refuse);
}

type AnyHandler = (request: unknown) => Promise<HandlerResult>;

function toRouteHandler(id: string, handlers: Handlers, { db: home, secrets, written }: HookDeps) {
  // One function serves every operation. The generated type has checked each handler against its own operation.
  const handle = (handlers as Record<string, AnyHandler>)[id];
  if (!handle) throw new Error(`The operation ${id} has no handler.`);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const {
      body,
      query,
      params: path,
      caller,
      context: ctx,
      tenantId,
      clientAddress: address,
      id: requestId,
      span,
      db = home,
      isOfCookie = false,
    } = request;
    const mediaType = sentMediaType(request);
    const { 'user-agent': userAgent, 'accept-language': acceptLanguage } = request.headers;
    // Inside of runIdempotent: a stored response is sent again whatever the caller has written since.
    const serve = (run: () => Promise<HandlerResult>) =>
      withUploads(request, () => withinAllowance(request, written, run));
    const work = async (): Promise<HttpResponse> => {
      const { sessionCookie, stationCookie, ...result } = await serve(() =>
        handle({
          ctx,
          body,
          mediaType,
          query,
          path,
          caller,
          tenantId,
          requestId,
          address,
          userAgent,
          acceptLanguage,
          isOfCookie,
          ...(request.rawBody ? { signed: { bytes: request.rawBody, headers: request.headers } } : {}),
          station: () => readStationCookie(request),
        }),
      );
      if (sessionCookie !== undefined) sendSessionCookie(reply, sessionCookie);
      if (stationCookie !== undefined) sendStationCookie(reply, stationCookie);
      if (result.document) return toDocumentResponse(result.document, request.headers);
      return toHttpResponse(id, result, new Date());
    };
    const { operation, idempotencyKey } = request;
    const response =
      operation && idempotencyKey && caller && ctx
        ? await runIdempotent(
            { ctx, db: withSpan(db, span), secrets, key: { caller, ...idempotencyKey }, operation },
            work,
          )
        : await work();
    await assertChecked(request);
    if (operation) logSecretReads(request, operation, response);
    return sendHttpResponse(reply, response);
  };
}

/** A handler that has touched no row has not compared the caller with the database yet. */
async function assertChecked({ caller, context }: FastifyRequest): Promise<void> {
  if (caller && context && !context.isAdmitted) await context.assertAdmitted();
}

/** Responds with 405 and Allow to a path of the contract or the documentation, with 404 to any other. */
function makeNotFoundHandler(documents: string[]) {
  const allowed = new Map(documents.map((path) => [path, DOCUMENT_METHODS]));
  for (const { path, method } of Object.values(operations)) {
    allowed.set(path, [...(allowed.get(path) ?? []), method]);
  }
  const templates = [...allowed].map(([path, methods]) => ({ pattern: patternOf(path), methods }));
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.split('?')[0] ?? '';
    const methods = templates.find(({ pattern }) => pattern.test(path))?.methods;
    if (!methods)
      return respondToPerson(request, reply) ?? sendError(new ApiError('route_not_found'), request, reply);
    const supported = methods.join(', ');
    void reply.header('allow', supported);
    return sendError(new ApiError('method_not_allowed', { args: { methods: supported } }), request, reply);
  };
}

/** Returns the pattern of a path template; `{name}` matches one segment. */
function patternOf(template: string): RegExp {
  const literal = (text: string) => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(
    `^${template
      .split(/\{[^{}]+\}/)
      .map(literal)
      .join('[^/]+')}$`,
  );
}
