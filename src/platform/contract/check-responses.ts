import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ValidateFunction } from 'ajv';
import { dereference, type Bundle, type Schema } from './bundle.js';
import { makeAjv } from './validator.js';

/** A reply that was judged, and what of the contract it showed. */
export type ObservedResponse = {
  /** Empty where no operation was reached. */
  operationId: string;
  status: number;
  mediaType: string;
  /** What the request was sent as, and the action that it named. */
  requestMediaType?: string;
  action?: string;
  text: string;
  faults: string[];
};

export type Reply = {
  status: number;
  header(name: string): string | undefined;
  /** Every header that the reply has. */
  headerNames: string[];
  text: string;
};

/** Judges replies against the contract: status, media type, headers and every field, none undeclared. */
export type ResponseValidator = {
  /** What is wrong with the reply; empty when it is the contract's. */
  judge(operationId: string, reply: Reply): string[];
  /** A failure that no operation gave, such as that of an unknown path. */
  judgeFailure(text: string): string[];
};

/** Tests switch this on: every reply that leaves the server is judged, whether its test looks or not. */
export function validateResponses(
  app: FastifyInstance,
  bundle: Bundle,
  onReply: (reply: ObservedResponse) => void,
): void {
  const { judge, judgeFailure } = makeResponseValidator(bundle);
  app.addHook('onSend', async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const isReference = request.url.startsWith('/docs');
    if (isReference) return payload;
    const text = textOf(payload, reply.getHeader('content-encoding'));
    const operationId = request.operation?.id ?? '';
    const { statusCode: status } = reply;
    const header = (name: string) => reply.getHeader(name)?.toString();
    const headerNames = Object.keys(reply.getHeaders());
    onReply({
      operationId,
      status,
      text,
      mediaType: mediaTypeOf(header('content-type')),
      ...describeRequest(request),
      faults: [
        ...(operationId ? judge(operationId, { status, header, headerNames, text }) : judgeFailure(text)),
        ...cacheFaults(header),
      ],
    });
    return payload;
  });
}

/** What may be kept names its version. */
const cacheFaults = (header: Reply['header']): string[] =>
  header('cache-control') === 'no-store' || header('etag') !== undefined
    ? []
    : ['the header cache-control is not no-store'];

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

function textOf(payload: unknown, encoding: unknown): string {
  if (!Buffer.isBuffer(payload)) return typeof payload === 'string' ? payload : '';
  return (DECODERS[String(encoding)]?.(payload) ?? payload).toString();
}

function describeRequest({ headers, body, query }: FastifyRequest) {
  const requestMediaType = mediaTypeOf(headers['content-type']);
  const action = actionIn(body) ?? actionIn(query);
  return { ...(requestMediaType ? { requestMediaType } : {}), ...(action ? { action } : {}) };
}

function actionIn(part: unknown): string | undefined {
  // as: any object may have the key; what it holds is looked at next
  const action = typeof part === 'object' ? (part as { action?: unknown } | null)?.action : undefined;
  return typeof action === 'string' ? action : undefined;
}

const mediaTypeOf = (contentType = '') => contentType.split(';')[0] ?? '';

export function makeResponseValidator(bundle: Bundle): ResponseValidator {
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
    judge(operationId, { status, header, headerNames, text }) {
      const declared = operations.get(operationId)?.responses[String(status)];
      if (!declared) return [`${operationId} does not declare ${status}`];
      const mediaType = mediaTypeOf(header('content-type'));
      const faults = [
        ...headerFaults(declared.headers ?? {}, header, mediaType),
        ...undeclaredHeaders(declared.headers ?? {}, headerNames),
      ];
      if (!declared.content && !mediaType && text === '') return faults;
      const media = declared.content?.[mediaType];
      if (!media) return [...faults, `${operationId} ${status} does not declare ${mediaType || 'a body'}`];
      // OpenAPI 3.1 describes a file by its media type alone
      if (!media.schema) return faults;
      return [...faults, ...faultsOf(validatorOf(media.schema), isJson(mediaType) ? JSON.parse(text) : text)];
    },
    judgeFailure: (text) => faultsOf(isFailure, JSON.parse(text)),
  };

  function validatorOf(schema: Schema): ValidateFunction {
    const validate = compiled.get(schema) ?? ajv.compile(seal(schema));
    compiled.set(schema, validate);
    return validate;
  }

  /**
   * An optional header belongs to the files among a status's answers: they must have it, its JSON need not. Only that an
   * answer is a repetition is said of any.
   */
  function headerFaults(declared: Headers, header: Reply['header'], mediaType: string): string[] {
    const isFile = mediaType !== '' && !/[/+](json|yaml)$/.test(mediaType);
    return Object.entries(declared).flatMap(([name, { required, schema }]) => {
      const text = header(name);
      if (text === undefined)
        return required || (isFile && name !== 'Idempotency-Replayed')
          ? [`the header ${name} is missing`]
          : [];
      const value = schema?.['type'] === 'integer' ? Number(text) : text;
      return schema ? faultsOf(validatorOf(schema), value).map((fault) => `the header ${name} ${fault}`) : [];
    });
  }
}

type Headers = Record<string, { required?: boolean; schema?: Schema }>;

// Not the contract's to state: what HTTP itself sends, and what helmet tells browsers.
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

function faultsOf(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
  );
}

/** The same schema, refusing what it does not declare: a leak shows as a field too many. */
export function seal(schema: Schema, isPart = false): Schema {
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
