import type { ValidateFunction } from 'ajv';
import type { Schema } from '../../../src/platform/contract/bundle.js';
import { makeResponseValidator } from '../../../src/platform/contract/response-validator.js';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { makeAjv } from '../../../src/platform/contract/validator.js';
import { bundle, describeOperation, operationIds, operationOf } from '../../support/service/contract.js';
import type { RawReply } from '../../support/service/wire.js';
import type { FuzzRequest } from './requests.js';

type Failure = { code: string; request_id: string; errors?: { field: string; code: string }[] };

const { validate, validateFailure } = makeResponseValidator(bundle);
const ajv = makeAjv();
const compiled = new Map<Schema, ValidateFunction>();

/** What is wrong with a reply to a request; empty when it is what the contract promises. */
export function faultsOf(request: FuzzRequest, reply: RawReply): string[] {
  const { status, headers, text } = reply;
  if (status >= 500) return [`${status} is a fault of ours: ${text.slice(0, 300)}`];
  if (!headers['x-request-id']) return ['X-Request-Id is missing'];
  // as: judged next
  const failure = status >= 400 ? (JSON.parse(text || '{}') as Failure) : undefined;
  const isFirst = headers['idempotency-replayed'] === undefined;
  if (failure && isFirst && request.method !== 'HEAD' && failure.request_id !== headers['x-request-id'])
    return [`request_id ${failure.request_id} is not the header's ${String(headers['x-request-id'])}`];
  return [...contractFaults(request, reply, failure), ...(failure ? [] : wronglyTaken(request))];
}

/** Stated once for the whole contract, and not at each operation. */
const EVERYWHERE = new Set(['route_not_found', 'unknown_host']);

function contractFaults(request: FuzzRequest, reply: RawReply, failure: Failure | undefined): string[] {
  const { status, headers, text } = reply;
  // no body, so nothing to judge
  if (request.method === 'HEAD') return [];
  const id = operationAt(request);
  if (failure && (!id || EVERYWHERE.has(failure.code))) return validateFailure(text);
  if (!id) return [`${status} for what is no operation`];
  const header = (name: string) => headers[name.toLowerCase()]?.toString();
  const faults = validate(id, { status, header, headerNames: Object.keys(headers), text });
  if (request.isMeantValid && failure && !isRule(id, status, failure))
    faults.push(`refused, although the contract allows the request: ${text}`);
  return faults;
}

const templates = operationIds.map((id) => {
  const { method, path } = operationOf(id);
  return { id, method, pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`) };
});

/** The operation that a method and a path name. */
function operationAt({ method, target }: FuzzRequest): OperationId | undefined {
  const path = target.split('?')[0] ?? '';
  return templates.find((each) => each.method === method && each.pattern.test(path))?.id;
}

const OF_THE_FORM = new Set([
  ...['malformed_json', 'malformed_request', 'malformed_form', 'invalid_encoding', 'body_required'],
  ...[
    'unsupported_media_type',
    'body_too_large',
    'method_not_allowed',
    'headers_too_large',
    'request_timeout',
  ],
]);

/** Whether a request that its schema allows is refused by a rule, and an example of the contract shows which. */
function isRule(id: OperationId, status: number, { code, errors = [] }: Failure): boolean {
  if (code !== 'validation_failed') return !OF_THE_FORM.has(code);
  const media = describeOperation(id).responses[String(status)]?.content?.['application/json'];
  const shown = Object.values(media?.examples ?? {})
    // as: examples of failures are failures, which examples.test.ts holds
    .flatMap(({ value }) => (value as Failure).errors ?? [])
    .map(nameOf);
  // The example names one field that an action excludes, and stands for all of them.
  const excludes = shown.some((name) => name.endsWith(' conflict'));
  return errors.every((error) => shown.includes(nameOf(error)) || (excludes && error.code === 'conflict'));
}

const nameOf = ({ field, code }: { field: string; code: string }) =>
  `${field.replace(/\[\d+\]/g, '[]')} ${code}`;

/** A success for what the contract forbids. Forms and unusual media types are left to their own tests. */
function wronglyTaken(request: FuzzRequest): string[] {
  const id = operationAt(request);
  if (!id || request.method === 'HEAD') return [];
  return [...bodyFaults(id, request), ...queryFaults(id, request)].map((fault) => `taken, although ${fault}`);
}

function bodyFaults(id: OperationId, { headers, body }: FuzzRequest): string[] {
  const { requestBody } = describeOperation(id);
  if (!requestBody) return [];
  if (!body || body.length === 0) return requestBody.required ? ['it has no body'] : [];
  const isJson = headers.some(([name, value]) => name === 'content-type' && value === 'application/json');
  const schema = requestBody.content['application/json']?.schema;
  if (!isJson || !schema) return [];
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return violations(schema, value).map((fault) => `the body ${fault}`);
  } catch {
    return ['its body is not JSON'];
  }
}

function queryFaults(id: OperationId, { target }: FuzzRequest): string[] {
  const query = new URLSearchParams(target.split('?')[1] ?? '');
  const parameters = (describeOperation(id).parameters ?? []).filter((each) => each.in === 'query');
  return parameters.flatMap(({ name, required, schema }) => {
    const values = query.getAll(name);
    if (values.length === 0) return required ? [`${name} is missing`] : [];
    if (values.length > 1) return [`${name} is repeated`];
    return violations(schema, read(schema, values[0] ?? '')).map((fault) => `${name} ${fault}`);
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
  // defaults are filled in, which must not reach the request
  if (validate(structuredClone(value))) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
