import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import type { Handlers } from '../../generated/handlers.js';
import { operations, type OperationId } from '../../generated/operations.js';
import { toRoutes, type Bundle } from '../contract/bundle.js';
import { stringifyReply } from '../contract/json-text.js';
import type { FileReply } from '../contract/types.js';
import { Fault } from '../errors.js';
import { wrapSuccess } from './envelope.js';
import { sendFault } from './failures.js';
import { MULTIPART } from './forms.js';
import { guardBeforeBody, guardBeforeValidation, type GuardParts } from './guard.js';
import { withUploads } from './uploads.js';

/** Makes a route of every operation of the contract. @throws when an operation has no handler */
export async function registerRoutes(
  app: FastifyInstance,
  bundle: Bundle,
  handlers: Handlers,
  guards: GuardParts,
): Promise<void> {
  app.addHook('onRoute', (route) => {
    const id = (route.schema as { operationId?: OperationId } | undefined)?.operationId;
    if (!id) return;
    const operation = operations[id];
    route.onRequest = guardBeforeBody(operation, guards);
    route.preValidation = guardBeforeValidation(operation);
  });
  await app.register(openapiGlue, {
    specification: toRoutes(bundle),
    operationResolver: (id: string) => toRouteHandler(id, handlers),
  });
  const refuse = makeNotFoundHandler();
  // before the body is read, so that the path is told first and costs nothing
  app.addHook('onRequest', async (request, reply) => (request.is404 ? refuse(request, reply) : undefined));
  app.setNotFoundHandler(refuse);
}

type AnyHandler = (
  request: unknown,
) => Promise<{ statusCode: number; body?: unknown; file?: FileReply<string> }>;

function toRouteHandler(id: string, handlers: Handlers) {
  // as: one loop serves every operation; the generated type has checked each handler against its own
  const handle = (handlers as Record<string, AnyHandler>)[id];
  if (!handle) throw new Error(`The operation ${id} has no handler.`);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { body, query, params: path, caller, tenantId, ip: address } = request;
    // the guard has left any other type in its canonical spelling
    const mediaType = request.isMultipart() ? MULTIPART : request.headers['content-type'];
    const { id: requestId } = request;
    const bare = await withUploads(request, () =>
      handle({ body, mediaType, query, path, caller, tenantId, requestId, address }),
    );
    void reply.code(bare.statusCode);
    if (bare.file) return sendFile(reply, bare.file);
    // without it a string would be sent as text/plain
    if (typeof bare.body === 'string') return reply.type(bareTextType(id)).send(bare.body);
    if (bare.body !== undefined) return reply.send(bare.body);
    return reply.type(JSON_TYPE).send(stringifyReply(wrapSuccess(id, bare, new Date())));
  };
}

/** The name is of our own making: plain ASCII without quotes. */
function sendFile(
  reply: FastifyReply,
  { mediaType, content, name, headers = {} }: FileReply<string>,
): FastifyReply {
  const charset = mediaType.startsWith('text/') ? '; charset=utf-8' : '';
  void reply.headers(headers);
  if (name) void reply.header('content-disposition', `attachment; filename="${name}"`);
  return reply.type(mediaType + charset).send(content);
}

const JSON_TYPE = 'application/json; charset=utf-8';

const bareTextType = (id: string) => (id === 'getContractYaml' ? 'application/yaml' : JSON_TYPE);

/** 405 with Allow for a path of the contract, 404 for any other. */
function makeNotFoundHandler() {
  const allowed = new Map<string, string[]>();
  for (const { path, method } of Object.values(operations)) {
    allowed.set(path, [...(allowed.get(path) ?? []), method]);
  }
  const templates = [...allowed].map(([path, methods]) => ({ pattern: patternOf(path), methods }));
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const asked = request.url.split('?')[0] ?? '';
    const methods = templates.find(({ pattern }) => pattern.test(asked))?.methods;
    if (!methods) return sendFault(new Fault('route_not_found'), request, reply);
    void reply.header('allow', methods.join(', '));
    return sendFault(new Fault('method_not_allowed'), request, reply);
  };
}

/** What a path template matches: `{name}` is one segment. */
function patternOf(template: string): RegExp {
  const literal = (text: string) => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(
    `^${template
      .split(/\{[^}]+\}/)
      .map(literal)
      .join('[^/]+')}$`,
  );
}
