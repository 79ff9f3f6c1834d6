// Which failures an operation can have.
import {
  credentialOf,
  parametersOf,
  resolve,
  takesIdempotencyKey,
  type Content,
  type Contract,
  type GivenError,
  type Operation,
  type RequestBody,
  type Schema,
} from '../document/openapi.js';
import type { Errors, Failure } from './errors.js';

/** `isMetered` says of which operations the written bytes are counted. */
export type Parts = { bundle: Contract; source: Errors; isMetered: (operationId: string) => boolean };
/** An operation, and the methods of its path. */
export type WithMethods = Operation & { methods: string[] };
/** Whether the operation lists the failure itself. */
export type Listed = Failure & { isListed?: boolean };

/** Returns the failures that the operation lists under `x-errors`, and those of every operation of its kind. */
export const failuresOf = (parts: Parts, operation: WithMethods): Listed[] => [
  ...ownFailures(operation),
  ...commonFailures(parts, operation),
];

/** Returns the entries of `x-errors`: a code, optionally with a variant, `errors` and arguments. */
function ownFailures({ 'x-errors': listed = [], 'x-permission': permission }: Operation): Listed[] {
  return listed
    .flatMap((item) => (typeof item === 'string' ? [[item, {}] as const] : Object.entries(item)))
    .map(([code, given]) => {
      const { variant, errors, ...args } = readSpec(given);
      const isOfRole = code === 'permission_denied' && variant === undefined;
      return { code, variant, errors, args: isOfRole ? { permission, ...args } : args, isListed: true };
    });
}

function readSpec(given: GivenError): Exclude<GivenError, string | unknown[]> {
  if (typeof given === 'string') return { variant: given };
  return Array.isArray(given) ? { errors: given } : given;
}

/** Returns the failures that every operation of this kind has. */
function commonFailures({ bundle, source: { common }, isMetered }: Parts, operation: WithMethods): Listed[] {
  const { requestBody, security = bundle.security, methods, 'x-errors': listed = [] } = operation;
  const types = Object.keys(requestBody?.content ?? {});
  const credential = credentialOf(security);
  const kinds: Record<string, boolean> = {
    all: true,
    token: credential === 'token',
    key: credential === 'key',
    scoped: operation['x-scopes'] !== undefined,
    unscoped: credential === 'token' && operation['x-scopes'] === undefined,
    body: types.length > 0,
    required_body: requestBody?.required === true,
    json: types.includes('application/json'),
    form: types.includes('multipart/form-data'),
    idempotency: takesIdempotencyKey(bundle, operation),
    writing: credential !== 'none' && isMetered(operation.operationId),
  };
  const exempt = new Set(operation['x-errors-exempt']);
  const own = new Set(listed.map((item) => (typeof item === 'string' ? item : Object.keys(item)[0])));
  const codes = new Set(Object.entries(common).flatMap(([kind, each]) => (kinds[kind] ? each : [])));
  return [...codes]
    .filter((code) => !exempt.has(code) && (!own.has(code) || ADDED.has(code)))
    .flatMap((code) =>
      specify(code, { bundle, operation, types, methods, isMetered, isListed: own.has(code) }),
    );
}

/** Codes of which an operation lists only what is its own: the common failures are added. */
const ADDED = new Set(['validation_failed', 'quota_exceeded']);

type Specified = {
  bundle: Contract;
  operation: Operation;
  types: string[];
  methods: string[];
  isMetered: (operationId: string) => boolean;
  isListed: boolean;
};

/** Adds the variant and the arguments that depend on the operation. */
function specify(code: string, specified: Specified): Listed[] {
  const { bundle, operation, types, methods, isMetered, isListed } = specified;
  switch (code) {
    case 'validation_failed':
      return invalidAction(bundle, operation, isListed);
    case 'invalid_encoding':
      return [{ code, ...(types.length > 0 ? {} : { variant: 'query' }) }];
    case 'method_not_allowed':
      return [{ code, args: { methods: methods.join(', ') } }];
    case 'unsupported_media_type':
      return [{ code, args: { types: types.join(' or ') } }];
    case 'body_required':
      return [{ code, ...(types.includes('application/json') ? {} : { variant: 'form' }) }];
    case 'key_invalid':
      return [{ code, isListed: true }];
    case 'scope_missing':
      return [{ code, args: { scopes: (operation['x-scopes'] ?? []).join(' or ') }, isListed: true }];
    case 'quota_exceeded':
      return quotasOf(bundle, operation, isMetered(operation.operationId)).map((variant) => ({
        ...{ code, variant, isListed },
      }));
    case 'body_too_large':
      return tooLarge(operation.requestBody, types, bundle);
    default:
      return [{ code }];
  }
}

/** Returns the quotas that every operation of this kind has: of its stored responses, and of what it writes. */
function quotasOf(bundle: Contract, operation: Operation, isMetered: boolean): string[] {
  const isOfStaff = credentialOf(operation.security ?? bundle.security) === 'token';
  return [
    ...(takesIdempotencyKey(bundle, operation) ? ['stored_bytes'] : []),
    ...(isMetered ? ['written_bytes', ...(isOfStaff ? ['staff_written_bytes'] : [])] : []),
  ];
}

/**
 * Returns the failure for an unknown action. For an operation without actions it is the failure for an undeclared action,
 * unless the operation lists a validation failure itself.
 */
function invalidAction(bundle: Contract, operation: Operation, isListed: boolean): Listed[] {
  const code = 'validation_failed';
  const values = actionsOf(bundle, operation);
  if (values.length > 0)
    return [
      { code, isListed: true, errors: [{ field: 'action', problem: 'enum', values: values.join(', ') }] },
    ];
  return isListed ? [] : [{ code, errors: [{ field: 'action', problem: 'no_action' }] }];
}

/** Returns the actions that an operation accepts in its query or its bodies. */
export function actionsOf(bundle: Contract, operation: Operation): string[] {
  const bodies = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) =>
    resolve(bundle, schema),
  );
  const ofBodies = bodies
    .flatMap((schema) => schema.oneOf ?? [schema])
    .map((schema) => resolve(bundle, schema).properties?.['action'] ?? {});
  const ofQuery = parametersOf(bundle, operation)
    .filter((parameter) => parameter.in === 'query' && parameter.name === 'action')
    .map(({ schema }) => schema);
  const values = [...ofQuery, ...ofBodies]
    .map((schema) => resolve(bundle, schema))
    .flatMap((schema) => schema.enum ?? schema.const ?? []);
  return [...new Set(values.map(String))];
}

function tooLarge(requestBody: RequestBody | undefined, types: string[], bundle: Contract): Listed[] {
  if (!requestBody) return [];
  const code = 'body_too_large';
  const isForm = types.includes('multipart/form-data');
  const limit = requestBody['x-max-body-bytes'] ?? 0;
  const lines = linesTooLarge(requestBody);
  return [
    ...(types.some((type) => type !== 'multipart/form-data')
      ? [{ code, ...(lines.length > 0 ? { variant: 'one_or_lines' } : {}), args: { limit: inWords(limit) } }]
      : []),
    ...lines,
    ...(isForm ? [{ code, variant: 'file', args: { limit: inWords(fileLimit(requestBody, bundle)) } }] : []),
  ];
}

function linesTooLarge({ content }: RequestBody): Listed[] {
  const limit = content['application/x-ndjson']?.['x-max-body-bytes'];
  return limit === undefined
    ? []
    : [{ code: 'body_too_large', variant: 'lines', args: { limit: inWords(limit) } }];
}

const MIB = 1024 * 1024;
const inWords = (bytes: number) => (bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes / 1024} KiB`);

function fileLimit({ content }: RequestBody, bundle: Contract): number {
  const limits = fileFieldsOf(bundle, content).map(({ schema }) => schema.maxLength ?? 10 * MIB);
  return Math.max(...limits);
}

/** Returns the file fields of a multipart body. */
export function fileFieldsOf(bundle: Contract, content: Content = {}): { name: string; schema: Schema }[] {
  const { properties = {} } = resolve(bundle, content['multipart/form-data']?.schema ?? {});
  return Object.entries(properties)
    .filter(([, { format }]) => format === 'binary')
    .map(([name, schema]) => ({ name, schema }));
}
