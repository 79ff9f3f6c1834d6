import type { ValidateFunction } from 'ajv';
import { fieldCatalogue } from '../../../generated/errors.js';
import type { Schema } from '../../../src/platform/contract/bundle.js';
import type { Media } from '../../support/contract/dereference.js';
import { makeResponseValidator } from '../../support/contract/response-validator.js';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { makeAjv } from '../../../src/platform/contract/validator.js';
import { bundle, describeOperation, operationIds, operationOf } from '../../support/service/contract.js';
import type { RawReply } from '../../support/service/wire.js';
import type { FuzzRequest } from './requests.js';

type FieldFailure = { field: string; code: string; message: string };
type Failure = { code: string; request_id: string; errors?: FieldFailure[] };

const { validate: validateReply, validateFailure } = makeResponseValidator(bundle);
const ajv = makeAjv();
const compiled = new Map<Schema, ValidateFunction>();

/** Returns the differences between a reply and the contract; empty when there are none. */
export function problemsOf(request: FuzzRequest, reply: RawReply): string[] {
  const { status, headers, text } = reply;
  if (status >= 500) return [`${status} is an internal error: ${text.slice(0, 300)}`];
  if (!headers['x-request-id']) return ['X-Request-Id is missing'];
  // The contract is checked below.
  const failure = status >= 400 ? (JSON.parse(text || '{}') as Failure) : undefined;
  const isFirst = headers['idempotency-replayed'] === undefined;
  if (failure && isFirst && request.method !== 'HEAD' && failure.request_id !== headers['x-request-id'])
    return [`request_id ${failure.request_id} is not the header's ${String(headers['x-request-id'])}`];
  return [...contractProblems(request, reply, failure), ...(failure ? [] : wronglyAccepted(request))];
}

/** These codes are declared once for the whole contract, not at each operation. */
const GLOBAL_CODES = new Set(['route_not_found', 'unknown_host']);

function contractProblems(request: FuzzRequest, reply: RawReply, failure: Failure | undefined): string[] {
  const { status, headers, text } = reply;
  // A HEAD response has no body to validate.
  if (request.method === 'HEAD') return [];
  const id = operationAt(request);
  if (failure && (!id || GLOBAL_CODES.has(failure.code))) return validateFailure(text);
  if (!id) return [`${status} for a path without an operation`];
  const header = (name: string) => headers[name.toLowerCase()]?.toString();
  const problems = validateReply(id, { status, header, headerNames: Object.keys(headers), text });
  if (request.isIntendedValid && failure && !isRule(id, status, failure))
    problems.push(`rejected, although the contract allows the request: ${text}`);
  return problems;
}

const templates = operationIds.map((id) => {
  const { method, path } = operationOf(id);
  return { id, method, pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`) };
});

/** Returns the operation that a method and a path name. */
function operationAt({ method, target }: FuzzRequest): OperationId | undefined {
  const path = target.split('?')[0] ?? '';
  return templates.find((each) => each.method === method && each.pattern.test(path))?.id;
}

const FORMAT_CODES = new Set([
  ...['malformed_json', 'malformed_request', 'malformed_form', 'invalid_encoding', 'body_required'],
  ...[
    'unsupported_media_type',
    'body_too_large',
    'method_not_allowed',
    'headers_too_large',
    'request_timeout',
  ],
]);

/**
 * Whether the failure is a business rule, which an example of the contract shows, and not a schema violation.
 */
function isRule(id: OperationId, status: number, { code, errors = [] }: Failure): boolean {
  if (code !== 'validation_failed') return !FORMAT_CODES.has(code);
  const media = describeOperation(id).responses[String(status)]?.content?.['application/json'];
  const shown = Object.values(media?.examples ?? {})
    // Failure examples have this shape; examples.test.ts checks it.
    .flatMap(({ value }) => (value as Failure).errors ?? [])
    .map(nameOf);
  // The example names one excluded field and stands for all of them.
  const excludes = shown.some((name) => name.endsWith(' conflict'));
  return errors.every(
    (error) => shown.includes(nameOf(error)) || (excludes && error.code === 'conflict') || isDamage(error),
  );
}

/** What spreadsheets do to numbers is refused in every code and number (docs/site/pages/files.md), not declared at each. */
const DAMAGES = (
  ['number_shortened', 'number_formatted', 'formula_error', 'formula_cell', 'date_cell'] as const
).map((problem) => fieldCatalogue[problem].message.split('{text}')[1]);

const isDamage = ({ code, message }: FieldFailure): boolean =>
  code === 'pattern' && DAMAGES.some((ending) => ending !== undefined && message.endsWith(ending));

const nameOf = ({ field, code }: Pick<FieldFailure, 'field' | 'code'>) =>
  `${field.replace(/\[\d+\]/g, '[]')} ${code}`;

/** Returns a problem if a forbidden request succeeds. Forms and unusual media types have their own tests. */
function wronglyAccepted(request: FuzzRequest): string[] {
  const id = operationAt(request);
  if (!id || request.method === 'HEAD') return [];
  return [...bodyProblems(id, request), ...queryProblems(id, request)].map(
    (problem) => `accepted, although ${problem}`,
  );
}

function bodyProblems(id: OperationId, { headers, body }: FuzzRequest): string[] {
  const { requestBody } = describeOperation(id);
  if (!requestBody) return [];
  if (!body || body.length === 0) return requestBody.required ? ['it has no body'] : [];
  const isJson = headers.some(([name, value]) => name === 'content-type' && value === 'application/json');
  const media = requestBody.content['application/json'];
  const schema = media && withoutItems(media);
  if (!isJson || !schema) return [];
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    // PHP encodes an empty array in this way, and the contract takes it for an object without fields.
    const given = Array.isArray(value) && value.length === 0 ? {} : value;
    return violations(schema, given).map((problem) => `the body ${problem}`);
  } catch {
    return ['its body is not JSON'];
  }
}

/** The elements of a list with `x-each-item` are refused one by one, in a response that is a success. */
function withoutItems({
  schema,
  'x-each-item': list,
}: Media & { 'x-each-item'?: string }): Schema | undefined {
  if (!schema || list === undefined) return schema;
  const relaxed = relaxedSchemas.get(schema) ?? relax(schema, list);
  relaxedSchemas.set(schema, relaxed);
  return relaxed;
}

const relaxedSchemas = new Map<Schema, Schema>();

function relax(schema: Schema, list: string): Schema {
  // The contract's lint checks the types of these keywords' values.
  const properties = schema['properties'] as Record<string, Schema>;
  const { items: _, ...own } = properties[list] ?? {};
  return { ...schema, properties: { ...properties, [list]: own } };
}

function queryProblems(id: OperationId, { target }: FuzzRequest): string[] {
  const query = new URLSearchParams(target.split('?')[1] ?? '');
  const parameters = (describeOperation(id).parameters ?? []).filter((each) => each.in === 'query');
  return parameters.flatMap(({ name, required, schema }) => {
    const values = query.getAll(name);
    if (values.length === 0) return required ? [`${name} is missing`] : [];
    if (values.length > 1) return [`${name} is repeated`];
    return violations(schema, read(schema, values[0] ?? '')).map((problem) => `${name} ${problem}`);
  });
}

function read({ type }: Schema, text: string): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean') return { true: true, '1': true, false: false, '0': false }[text] ?? text;
  return text;
}

function violations(schema: Schema, value: unknown): string[] {
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  // Validation fills in defaults, which must not change the request.
  if (validate(structuredClone(value))) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
