import {
  credentialOf,
  METHODS,
  operationsOf,
  refTo,
  takesIdempotencyKey,
  type Contract,
  type Example,
  type Header,
  type Operation,
  type Response,
} from '../document/openapi.js';
import { failureBody, type Errors, type Failure } from './errors.js';
import { failuresOf, type Listed, type Parts, type WithMethods } from './failures-of-operation.js';

/**
 * Adds the failure responses to every operation of a bundled contract: those that the operation lists under `x-errors`, and
 * those that errors.yaml lists for its kind of operation. Each response is a reference to a shared component.
 */
export function addFailures(bundle: Contract, source: Errors, isMetered: Parts['isMetered']): Contract {
  const parts = { bundle, source, isMetered };
  bundle.components.responses = {};
  bundle.components.examples = {};
  for (const { path, operation } of operationsOf(bundle.paths)) {
    const declared = bundle.paths[path] ?? {};
    const methods = METHODS.filter((method) => declared[method]).map((method) => method.toUpperCase());
    Object.assign(operation.responses, failureResponses(parts, { ...operation, methods }));
    delete operation['x-errors'];
    delete operation['x-errors-exempt'];
  }
  bundle.components.responses = sorted(bundle.components.responses);
  bundle.components.examples = sorted(bundle.components.examples);
  return bundle;
}

const sorted = <Part>(record: Record<string, Part>): Record<string, Part> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

function failureResponses(parts: Parts, operation: WithMethods): Record<string, Response> {
  const failures = failuresOf(parts, operation);
  const statuses = new Set(failures.map(({ code }) => statusOf(parts, code)));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const found = failures.filter(({ code }) => statusOf(parts, code) === status);
      return [String(status), responseOf(parts, operation, status, inOrder(parts, found))] as const;
    }),
  );
}

/** Sorts failures in the order of errors.yaml, so that equal sets result in equal responses. */
function inOrder({ source }: Parts, failures: Listed[]): Listed[] {
  const codes = Object.keys(source.codes);
  return failures.sort((a, b) => codes.indexOf(a.code) - codes.indexOf(b.code));
}

function statusOf({ source }: Parts, code: string): number {
  const found = source.codes[code];
  if (!found) throw new Error(`errors.yaml has no code ${code}.`);
  return found.status;
}

/** Returns a reference to the component for these failures. Creates the component if it does not exist. */
function responseOf(parts: Parts, operation: Operation, status: number, failures: Listed[]): Response {
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
  addComponent(bundle.components.responses, name, response);
  return refTo('responses', name);
}

function addComponent<Part>(components: Record<string, Part>, name: string, value: Part): void {
  const known = components[name];
  if (known && JSON.stringify(known) !== JSON.stringify(value))
    throw new Error(`Two different components are called ${name}.`);
  components[name] = value;
}

/** Returns whether such a response is stored and repeated for its Idempotency-Key. With status 403, only `record_forbidden` is. */
function isReplayable({ bundle }: Parts, operation: Operation, status: number, codes: string[]): boolean {
  if (!takesIdempotencyKey(bundle, operation)) return false;
  return [400, 404, 409, 422].includes(status) || codes.includes('record_forbidden');
}

function describe({ codes: known }: Errors, codes: string[]): string {
  const texts = codes.map((code) => [code, known[code]?.description ?? ''] as const);
  const [first] = texts;
  if (first && texts.length === 1) return first[1];
  return texts.map(([code, text]) => `- \`${code}\`: ${text}`).join('\n');
}

function headersOf(status: number, codes: string[], replayable: boolean): Record<string, Header> {
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
function nameOf(
  { groups }: Errors,
  { operationId }: Operation,
  status: number,
  failures: Listed[],
  codes: string[],
): string {
  const listed = failures.filter(({ isListed }) => isListed);
  const isExact = failures.every(({ errors, isListed }) => !(errors && isListed));
  const [group] = Object.entries(groups).find(([, each]) => isSame(each, codes)) ?? [];
  // A listed variant has other words than the group's.
  const isPlain = listed.every(({ variant }) => variant === undefined);
  if (group && isExact && isPlain) return [group, ...quotasOf(failures)].join('.');
  if (!isExact || (status === 400 && failures.length > 1)) return `${pascal(operationId)}.${status}`;
  const named = listed.length > 0 ? listed : failures;
  return named.map(nameOfFailure).join('.');
}

/** Operations of one group differ in their quotas: only some store responses, and only some are for the staff. */
const quotasOf = (failures: Listed[]): string[] =>
  failures.flatMap(({ code, variant }) => (code === 'quota_exceeded' && variant ? [variant] : []));

const nameOfFailure = ({ code, variant, args = {} }: Failure) =>
  [pascal(code), variant, ...Object.values(args).map(dotted)].filter(Boolean).join('.');

const isSame = (a: string[], b: string[]) => a.length === b.length && a.every((each) => b.includes(each));
const pascal = (name: string) => name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
const dotted = (value: unknown) => String(value).replace(/[^A-Za-z0-9]+/g, '.');

function examplesOf(
  parts: Parts,
  operation: Operation,
  status: number,
  failures: Listed[],
): Record<string, Example> {
  const examples: Record<string, Example> = {};
  for (const failure of failures) {
    const value = failureBody(parts.source, failure, wordFor(parts, operation, status, failure.code));
    const example = { summary: value.message.replace(/\. .*$/s, '').replace(/\.?$/, '.'), value };
    const name = freeName(examples, failure);
    const isPlain = failure.errors === undefined && Object.keys(failure.args ?? {}).length === 0;
    const component = [pascal(failure.code), failure.variant].filter(Boolean).join('.');
    if (isPlain) addComponent(parts.bundle.components.examples, component, example);
    examples[name] = isPlain ? refTo('examples', component) : example;
  }
  return examples;
}

/** Returns the code as the example's name. Further examples of the same code have the difference as a suffix. */
function freeName(examples: Record<string, Example>, { code, variant, errors }: Failure): string {
  const further = [code, variant ?? errors?.map(({ field, problem }) => `${field}_${problem}`)[0]].join('_');
  const name = code in examples ? further : code;
  if (name in examples) throw new Error(`Two examples are called ${name}.`);
  return name;
}

/** Returns `error` for server errors and for a bearer token that is not accepted (401), otherwise `fail`. */
function wordFor(
  { bundle }: Parts,
  { security = bundle.security }: Operation,
  status: number,
  code: string,
): 'error' | 'fail' {
  const isOfBearer = credentialOf(security) === 'token' || code.startsWith('service_token');
  return status >= 500 || (status === 401 && isOfBearer) ? 'error' : 'fail';
}
