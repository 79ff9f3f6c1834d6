import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ValidateFunction } from 'ajv';
import { dereference, type Bundle, type Schema } from './bundle.js';
import { makeAjv } from './validator.js';

type OnReply = (operationId: string, status: number, faults: string[]) => void;

/** Judges replies against the contract: status, media type, headers and every field, none undeclared. */
export type ReplyJudge = {
  /** What is wrong with the reply; empty when it is the contract's. */
  judge(
    operationId: string,
    reply: { status: number; header(name: string): string | undefined; text: string },
  ): string[];
  /** A failure that no operation gave, such as that of an unknown path. */
  judgeFailure(text: string): string[];
};

/** Tests switch this on: every reply that leaves the server is judged, whether its test looks or not. */
export function checkReplies(app: FastifyInstance, bundle: Bundle, onReply: OnReply): void {
  const { judge, judgeFailure } = makeReplyJudge(bundle);
  app.addHook('onSend', async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const isReference = request.url.startsWith('/docs');
    if (isReference) return payload;
    const text = Buffer.isBuffer(payload) ? payload.toString() : typeof payload === 'string' ? payload : '';
    const id = request.operation?.id;
    if (!id) {
      onReply('', reply.statusCode, judgeFailure(text));
      return payload;
    }
    const header = (name: string) => reply.getHeader(name)?.toString();
    onReply(id, reply.statusCode, judge(id, { status: reply.statusCode, header, text }));
    return payload;
  });
}

export function makeReplyJudge(bundle: Bundle): ReplyJudge {
  const ajv = makeAjv();
  const { paths, components } = dereference(bundle);
  const operations = new Map(
    Object.values(paths)
      .flatMap((item) => Object.values(item))
      .filter(({ operationId }) => operationId)
      .map((operation) => [operation.operationId, operation]),
  );
  // as: the contract has this schema, errors.ts is typed by it
  const schemas = components['schemas'] as Record<string, Schema>;
  const isFailure = ajv.compile(seal(schemas['Failure'] ?? {}));
  const compiled = new Map<object, ValidateFunction>();

  return {
    judge(operationId, { status, header, text }) {
      const declared = operations.get(operationId)?.responses[String(status)];
      if (!declared) return [`${operationId} does not declare ${status}`];
      const mediaType = header('content-type')?.split(';')[0] ?? '';
      const faults = missingHeaders(declared.headers ?? {}, mediaType, header);
      const schema = declared.content?.[mediaType]?.schema;
      if (!schema) return [...faults, `${operationId} ${status} does not declare ${mediaType || 'a body'}`];
      const validate = compiled.get(schema) ?? ajv.compile(seal(schema));
      compiled.set(schema, validate);
      return [...faults, ...faultsOf(validate, mediaType.endsWith('json') ? JSON.parse(text) : text)];
    },
    judgeFailure: (text) => faultsOf(isFailure, JSON.parse(text)),
  };
}

/** An optional header belongs to the files among a status's answers: they must have it, its JSON need not. */
function missingHeaders(
  declared: Record<string, { required?: boolean }>,
  mediaType: string,
  header: (name: string) => string | undefined,
): string[] {
  const isFile = !/[/+](json|yaml)$/.test(mediaType);
  return Object.entries(declared)
    .filter(([name, { required }]) => (required !== false || isFile) && header(name) === undefined)
    .map(([name]) => `the header ${name} is missing`);
}

function faultsOf(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
  );
}

/** The same schema, refusing what it does not declare: a leak shows as a field too many. */
function seal(schema: Schema, isPart = false): Schema {
  const sealed = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, sealBelow(key, value)]),
  );
  const isObject = 'properties' in schema || 'allOf' in schema;
  const isOpen = 'additionalProperties' in schema;
  return isObject && !isOpen && !isPart ? { ...sealed, unevaluatedProperties: false } : sealed;
}

function sealBelow(key: string, value: unknown): unknown {
  // as: what JSON Schema says these keywords hold
  if (key === 'properties') {
    return Object.fromEntries(
      Object.entries(value as Record<string, Schema>).map(([name, child]) => [name, seal(child)]),
    );
  }
  if (key === 'allOf') return (value as Schema[]).map((part) => seal(part, true));
  if (key === 'oneOf' || key === 'anyOf') return (value as Schema[]).map((branch) => seal(branch));
  if (key === 'items' || key === 'additionalProperties') {
    return typeof value === 'object' && value !== null ? seal(value as Schema) : value;
  }
  return value;
}
