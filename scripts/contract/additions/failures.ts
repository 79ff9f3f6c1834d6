import { failureBody } from './errors.js';

/**
 * Adds the failure responses to every operation of a bundled contract: those that the operation lists under `x-errors`, and
 * those that errors.yaml lists for its kind of operation. Each response is a reference to a shared component.
 */
export function addFailures(bundle, source, { takesIdempotencyKey }) {
  const parts = { bundle, source, takesIdempotencyKey };
  bundle.components.responses = {};
  bundle.components.examples = {};
  for (const [path, item] of Object.entries(bundle.paths)) {
    const methods = Object.keys(item).filter((method) => item[method].operationId);
    for (const method of methods) {
      const operation = {
        ...item[method],
        path,
        methods: METHODS.filter((each) => methods.includes(each.toLowerCase())),
      };
      Object.assign(item[method].responses, failureResponses(parts, operation));
      delete item[method]['x-errors'];
      delete item[method]['x-errors-exempt'];
    }
  }
  for (const kind of ['responses', 'examples']) bundle.components[kind] = sorted(bundle.components[kind]);
  return bundle;
}

const METHODS = ['GET', 'PUT', 'POST', 'DELETE'];

const sorted = (record) => Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

function failureResponses(parts, operation) {
  const failures = [...ownFailures(parts, operation), ...commonFailures(parts, operation)];
  const statuses = new Set(failures.map(({ code }) => statusOf(parts, code)));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const found = failures.filter(({ code }) => statusOf(parts, code) === status);
      return [status, responseOf(parts, operation, status, inOrder(parts, found))];
    }),
  );
}

/** Sorts failures in the order of errors.yaml, so that equal sets result in equal responses. */
function inOrder({ source }, failures) {
  const codes = Object.keys(source.codes);
  return failures.sort((a, b) => codes.indexOf(a.code) - codes.indexOf(b.code));
}

function statusOf({ source }, code) {
  const found = source.codes[code];
  if (!found) throw new Error(`errors.yaml has no code ${code}.`);
  return found.status;
}

/** Returns the entries of `x-errors`: a code, optionally with a variant, `errors` and arguments. */
function ownFailures(_parts, { 'x-errors': listed = [], 'x-permission': permission }) {
  return listed.map((item) => {
    const [code, given] = typeof item === 'string' ? [item, {}] : Object.entries(item)[0];
    const { variant, errors, ...args } = readSpec(given);
    const isOfRole = code === 'permission_denied' && variant === undefined;
    return { code, variant, errors, args: isOfRole ? { permission, ...args } : args, isListed: true };
  });
}

function readSpec(given) {
  if (typeof given === 'string') return { variant: given };
  return Array.isArray(given) ? { errors: given } : given;
}

/** Returns the failures that every operation of this kind has. */
function commonFailures({ bundle, source: { common }, takesIdempotencyKey }, operation) {
  const { requestBody, security = bundle.security, methods, 'x-errors': listed = [] } = operation;
  const types = Object.keys(requestBody?.content ?? {});
  const schemes = security.flatMap((requirement) => Object.keys(requirement));
  const kinds = {
    all: true,
    token: schemes.includes('bearerAuth'),
    key: schemes.length > 0 && !schemes.includes('bearerAuth'),
    body: types.length > 0,
    required_body: requestBody?.required === true,
    json: types.includes('application/json'),
    form: types.includes('multipart/form-data'),
    idempotency: takesIdempotencyKey(bundle, operation),
  };
  const exempt = new Set(operation['x-errors-exempt']);
  const own = new Set(listed.map((item) => (typeof item === 'string' ? item : Object.keys(item)[0])));
  const codes = Object.keys(common).flatMap((kind) => (kinds[kind] ? common[kind] : []));
  return codes
    .filter((code) => !exempt.has(code) && (!own.has(code) || code === 'validation_failed'))
    .flatMap((code) => specify(code, { bundle, operation, types, methods, isListed: own.has(code) }));
}

/** Adds the variant and the arguments that depend on the operation. */
function specify(code, { bundle, operation, types, methods, isListed }) {
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
    case 'quota_exceeded':
      return [{ code, variant: 'stored_bytes' }];
    case 'body_too_large':
      return tooLarge(operation.requestBody, types, bundle);
    default:
      return [{ code }];
  }
}

/**
 * Returns the failure for an unknown action. For an operation without actions it is the failure for an undeclared action,
 * unless the operation lists a validation failure itself.
 */
function invalidAction(bundle, operation, isListed) {
  const code = 'validation_failed';
  const values = actionsOf(bundle, operation);
  if (values.length > 0)
    return [
      { code, isListed: true, errors: [{ field: 'action', problem: 'enum', values: values.join(', ') }] },
    ];
  return isListed ? [] : [{ code, errors: [{ field: 'action', problem: 'no_action' }] }];
}

/** Returns the actions that an operation accepts in its query or its bodies. */
export function actionsOf(bundle, { parameters = [], requestBody }) {
  const resolve = (node) => (node?.$ref ? resolve(lookUp(bundle, node.$ref)) : node);
  const bodies = Object.values(requestBody?.content ?? {}).map(({ schema }) => resolve(schema) ?? {});
  const ofBodies = bodies
    .flatMap((schema) => schema.oneOf ?? [schema])
    .map((schema) => resolve(resolve(schema).properties?.action));
  const ofQuery = parameters
    .map(resolve)
    .filter((parameter) => parameter.in === 'query' && parameter.name === 'action')
    .map(({ schema }) => resolve(schema));
  const values = [...ofQuery, ...ofBodies].flatMap((schema) => schema?.enum ?? schema?.const ?? []);
  return [...new Set(values)];
}

function tooLarge(requestBody, types, bundle) {
  const code = 'body_too_large';
  const isForm = types.includes('multipart/form-data');
  const limit = requestBody['x-max-body-bytes'];
  return [
    ...(types.some((type) => type !== 'multipart/form-data')
      ? [{ code, args: { limit: inWords(limit) } }]
      : []),
    ...linesTooLarge(requestBody),
    ...(isForm ? [{ code, variant: 'file', args: { limit: inWords(fileLimit(requestBody, bundle)) } }] : []),
  ];
}

function linesTooLarge({ content }) {
  const limit = content['application/x-ndjson']?.['x-max-body-bytes'];
  return limit === undefined
    ? []
    : [{ code: 'body_too_large', variant: 'lines', args: { limit: inWords(limit) } }];
}

const MIB = 1024 * 1024;
const inWords = (bytes) => (bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes / 1024} KiB`);

function fileLimit(requestBody, bundle) {
  const { schema } = requestBody.content['multipart/form-data'];
  const { properties } = schema.$ref ? lookUp(bundle, schema.$ref) : schema;
  const limits = Object.values(properties)
    .filter(({ format }) => format === 'binary')
    .map(({ maxLength }) => maxLength ?? 10 * MIB);
  return Math.max(...limits);
}

/** Returns a reference to the component for these failures. Creates the component if it does not exist. */
function responseOf(parts, operation, status, failures) {
  const { bundle, source } = parts;
  const codes = [...new Set(failures.map(({ code }) => code))];
  const replayable = isReplayable(parts, operation, status, codes);
  const name = `${nameOf(source, operation, status, failures, codes)}${replayable ? '.Replayable' : ''}`;
  const response = {
    description: describe(source, codes),
    headers: headersOf(status, codes, replayable),
    content: {
      'application/json': {
        schema: refTo('schemas', 'Failure'),
        examples: examplesOf(parts, operation, status, failures),
      },
    },
  };
  addComponent(bundle, 'responses', name, response);
  return refTo('responses', name);
}

const refTo = (kind, name) => ({ $ref: `#/components/${kind}/${name}` });

function addComponent({ components }, kind, name, value) {
  const known = components[kind][name];
  if (known && JSON.stringify(known) !== JSON.stringify(value))
    throw new Error(`Two different ${kind} are called ${name}.`);
  components[kind][name] = value;
}

/** Returns whether such a response is stored and repeated for its Idempotency-Key. With status 403, only `record_forbidden` is. */
function isReplayable({ bundle, takesIdempotencyKey }, operation, status, codes) {
  if (!takesIdempotencyKey(bundle, operation)) return false;
  return [400, 404, 409, 422].includes(status) || codes.includes('record_forbidden');
}

function describe({ codes: known }, codes) {
  const [first] = codes;
  if (codes.length === 1) return known[first].description;
  return codes.map((code) => `- \`${code}\`: ${known[code].description}`).join('\n');
}

function headersOf(status, codes, replayable) {
  const isConflict = codes.includes('idempotency_in_progress');
  return {
    'X-Request-Id': refTo('headers', 'XRequestId'),
    ...(status === 405 ? { Allow: refTo('headers', 'Allow') } : {}),
    ...(status === 429 || status === 503 ? { 'Retry-After': refTo('headers', 'RetryAfter') } : {}),
    ...(isConflict ? { 'Retry-After': refTo('headers', 'RetryAfterFirst') } : {}),
    ...(replayable ? { 'Idempotency-Replayed': refTo('headers', 'IdempotencyReplayed') } : {}),
  };
}

/** Returns the component's name, made of the codes. A 400 is usually specific to the operation and has its name. */
function nameOf({ groups }, { operationId }, status, failures, codes) {
  const listed = failures.filter(({ isListed }) => isListed);
  const isExact = failures.every(({ errors, isListed }) => !(errors && isListed));
  const group = Object.keys(groups).find((name) => isSame(groups[name], codes));
  if (group && isExact) return group;
  if (!isExact || (status === 400 && failures.length > 1)) return `${pascal(operationId)}.${status}`;
  const named = listed.length > 0 ? listed : failures;
  return named.map(nameOfFailure).join('.');
}

const nameOfFailure = ({ code, variant, args = {} }) =>
  [pascal(code), variant, ...Object.values(args).map(dotted)].filter(Boolean).join('.');

const isSame = (a, b) => a.length === b.length && a.every((each) => b.includes(each));
const pascal = (name) => name.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
const dotted = (value) => String(value).replace(/[^A-Za-z0-9]+/g, '.');

function examplesOf(parts, operation, status, failures) {
  const examples = {};
  for (const failure of failures) {
    const value = failureBody(parts.source, failure, wordFor(parts, operation, status));
    const example = { summary: value.message.split('. ')[0].replace(/\.?$/, '.'), value };
    const name = freeName(examples, failure);
    const isPlain = failure.errors === undefined && Object.keys(failure.args ?? {}).length === 0;
    const component = [pascal(failure.code), failure.variant].filter(Boolean).join('.');
    if (isPlain) addComponent(parts.bundle, 'examples', component, example);
    examples[name] = isPlain ? refTo('examples', component) : example;
  }
  return examples;
}

/** Returns the code as the example's name. Further examples of the same code have the difference as a suffix. */
function freeName(examples, { code, variant, errors }) {
  const further = [code, variant ?? errors?.map(({ field, problem }) => `${field}_${problem}`)[0]].join('_');
  const name = code in examples ? further : code;
  if (name in examples) throw new Error(`Two examples are called ${name}.`);
  return name;
}

/** Returns `error` for server errors and for the 401 of a protected operation, otherwise `fail`. */
function wordFor({ bundle }, { security = bundle.security }, status) {
  const isProtected = security.some((requirement) => 'bearerAuth' in requirement);
  return status >= 500 || (status === 401 && isProtected) ? 'error' : 'fail';
}

const lookUp = (bundle, reference) =>
  reference
    .split('/')
    .slice(1)
    .reduce((node, key) => node[key], bundle);
