import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ValidateFunction } from 'ajv';
import type { Schema } from '../../../src/platform/contract/bundle.js';
import { typeIn } from '../../../src/platform/contract/media-types.js';
import { makeAjv } from '../../../src/platform/contract/validator.js';
import { dereference, type Bundle } from './dereference.js';

/** A validated response, and the parts of the contract that it exercised. */
export type ObservedResponse = {
  /** Empty if the request matched no operation. */
  operationId: string;
  status: number;
  mediaType: string;
  /** The media type and the action of the request. */
  requestMediaType?: string;
  action?: string;
  text: string;
  problems: string[];
};

type Reply = {
  status: number;
  header(name: string): string | undefined;
  /** The names of all headers of the response. */
  headerNames: string[];
  text: string;
};

/** Validates responses against the contract: status, media type, headers and fields. An undeclared field is a problem too. */
export type ResponseValidator = {
  /** Returns the response's problems; an empty array if it matches the contract. */
  validate(operationId: string, reply: Reply): string[];
  /** Validates a failure outside any operation, for example that of an unknown path. */
  validateFailure(text: string): string[];
};

/** Validates every response that the server sends. */
export function validateResponses(
  app: FastifyInstance,
  { validate, validateFailure }: ResponseValidator,
  onReply: (reply: ObservedResponse) => void,
): void {
  app.addHook('onSend', async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const operationId = request.operation?.id ?? '';
    const { statusCode: status } = reply;
    const header = (name: string) => reply.getHeader(name)?.toString();
    // The contract describes no pages for people but those that operations with `x-page` return on success.
    const isHtml = typeIn(header('content-type')) === 'text/html';
    const isPage =
      operationId === ''
        ? status < 400 || isHtml
        : request.operation?.isPage === true && status >= 400 && isHtml;
    if (isPage) return payload;
    const text = textOf(payload, reply.getHeader('content-encoding'));
    const headerNames = Object.keys(reply.getHeaders());
    onReply({
      operationId,
      status,
      text,
      mediaType: typeIn(header('content-type')),
      ...describeRequest(request),
      problems: [
        ...(operationId
          ? validate(operationId, { status, header, headerNames, text })
          : validateFailure(text)),
        ...cacheProblems(header),
      ],
    });
    return payload;
  });
}

/** A response that clients may cache must have an ETag. */
const cacheProblems = (header: Reply['header']): string[] =>
  header('cache-control') === 'no-store' || header('etag') !== undefined
    ? []
    : ['the header cache-control is not no-store'];

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

function textOf(payload: unknown, encoding: unknown): string {
  // Text in pieces.
  if (Array.isArray(payload)) return Buffer.concat(payload as Buffer[]).toString();
  if (!Buffer.isBuffer(payload)) return typeof payload === 'string' ? payload : '';
  return (DECODERS[String(encoding)]?.(payload) ?? payload).toString();
}

function describeRequest({ headers, body, query }: FastifyRequest) {
  const requestMediaType = typeIn(headers['content-type']);
  const action = actionIn(body) ?? actionIn(query);
  return { ...(requestMediaType ? { requestMediaType } : {}), ...(action ? { action } : {}) };
}

function actionIn(part: unknown): string | undefined {
  const action = typeof part === 'object' && part !== null && 'action' in part ? part.action : undefined;
  return typeof action === 'string' ? action : undefined;
}

export function makeResponseValidator(bundle: Bundle): ResponseValidator {
  const ajv = makeAjv();
  const { paths, components } = dereference(bundle);
  const operations = new Map(
    Object.values(paths)
      .flatMap((item) => Object.values(item))
      .filter(({ operationId }) => operationId)
      .map((operation) => [operation.operationId, operation]),
  );
  // The contract always has schemas; errors.ts is typed by one of them.
  const schemas = components['schemas'] as Record<string, Schema>;
  const isFailure = ajv.compile(rejectUndeclared(schemas['Failure'] ?? {}));
  const compiled = new Map<object, ValidateFunction>();

  return {
    validate(operationId, { status, header, headerNames, text }) {
      const declared = operations.get(operationId)?.responses[String(status)];
      if (!declared) return [`${operationId} does not declare ${status}`];
      const mediaType = typeIn(header('content-type'));
      const problems = [
        ...headerProblems(declared.headers ?? {}, header, mediaType),
        ...undeclaredHeaders(declared.headers ?? {}, headerNames),
      ];
      if (!declared.content && !mediaType && text === '') return problems;
      const media = declared.content?.[mediaType];
      if (!media) return [...problems, `${operationId} ${status} does not declare ${mediaType || 'a body'}`];
      // OpenAPI 3.1 describes a file by its media type alone
      if (!media.schema) return problems;
      return [
        ...problems,
        ...validationProblems(validatorOf(media.schema), isJson(mediaType) ? JSON.parse(text) : text),
      ];
    },
    validateFailure: (text) => validationProblems(isFailure, JSON.parse(text)),
  };

  function validatorOf(schema: Schema): ValidateFunction {
    const validate = compiled.get(schema) ?? ajv.compile(rejectUndeclared(schema));
    compiled.set(schema, validate);
    return validate;
  }

  /**
   * A header that is not `required` is still mandatory for a file: a status may declare both a file and JSON, and only the
   * file has such headers. The exceptions are optional for every response.
   */
  function headerProblems(declared: Headers, header: Reply['header'], mediaType: string): string[] {
    const isFile = mediaType !== '' && !/[/+](json|yaml)$/.test(mediaType);
    return Object.entries(declared).flatMap(([name, { required, schema }]) => {
      const text = header(name);
      if (text === undefined)
        return required || (isFile && !OPTIONAL.has(name)) ? [`the header ${name} is missing`] : [];
      const value = schema?.['type'] === 'integer' ? Number(text) : text;
      return schema
        ? validationProblems(validatorOf(schema), value).map((problem) => `the header ${name} ${problem}`)
        : [];
    });
  }
}

type Headers = Record<string, { required?: boolean; schema?: Schema }>;

const OPTIONAL = new Set(['Idempotency-Replayed', 'RateLimit-Policy', 'RateLimit']);

// Headers that the contract does not declare: those of HTTP itself and those that helmet adds.
const UNDECLARED = new Set([
  ...['content-type', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'date'],
  ...['content-encoding', 'cache-control'],
  ...['content-security-policy', 'cross-origin-opener-policy', 'cross-origin-resource-policy'],
  ...['origin-agent-cluster', 'referrer-policy', 'strict-transport-security', 'x-content-type-options'],
  ...['x-dns-prefetch-control', 'x-download-options', 'x-frame-options', 'x-permitted-cross-domain-policies'],
  ...['x-xss-protection'],
]);

function undeclaredHeaders(declared: Headers, names: string[]): string[] {
  const known = new Set(Object.keys(declared).map((name) => name.toLowerCase()));
  return names
    .map((name) => name.toLowerCase())
    .filter((name) => !UNDECLARED.has(name) && !known.has(name))
    .map((name) => `the header ${name} is not declared`);
}

const isJson = (mediaType: string) => mediaType.endsWith('json');

function validationProblems(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
  );
}

/**
 * Returns the schema with undeclared fields rejected, so that a leaked field is reported, and with the enums of responses
 * closed: clients must expect new values, but the service sends only those that the contract lists.
 */
export function rejectUndeclared(schema: Schema, isPart = false): Schema {
  const sealed = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, rejectUndeclaredBelow(key, value)]),
  );
  const values = schema['x-extensible-enum'];
  if (values) return { ...sealed, enum: values };
  const isObject = 'properties' in schema || 'allOf' in schema;
  const isOpen = 'additionalProperties' in schema;
  return isObject && !isOpen && !isPart ? { ...sealed, unevaluatedProperties: false } : sealed;
}

function rejectUndeclaredBelow(key: string, value: unknown): unknown {
  // JSON Schema defines the types of these keywords' values.
  if (key === 'properties') {
    return Object.fromEntries(
      Object.entries(value as Record<string, Schema>).map(([name, child]) => [name, rejectUndeclared(child)]),
    );
  }
  if (key === 'allOf') return (value as Schema[]).map((part) => rejectUndeclared(part, true));
  if (key === 'oneOf' || key === 'anyOf')
    return (value as Schema[]).map((branch) => rejectUndeclared(branch));
  if (key === 'items' || key === 'additionalProperties') {
    return typeof value === 'object' && value !== null ? rejectUndeclared(value as Schema) : value;
  }
  return value;
}
