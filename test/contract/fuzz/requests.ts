import fc from 'fast-check';
import type { Schema } from '../../../src/platform/contract/bundle.js';
import type { Media } from '../../support/contract/dereference.js';
import { NDJSON, type OperationId } from '../../../src/platform/contract/types.js';
import { describeOperation, operationOf } from '../../support/service/contract.js';
import { SCOPES_OF_COURIERS, SCOPES_OF_STAFF } from '../../support/service/principals.js';
import { encodeBody } from './bodies.js';
import { MUTATION, mutate } from './mutations.js';
import type { Pools } from './pools.js';
import { validValue, type ValueContext } from './values.js';

/** The service tokens that requests send. Those of couriers have all scopes. */
export const SERVICE_TOKENS = {
  'token of IEX': { as: 'iex', scopes: SCOPES_OF_COURIERS },
  'token of HRB': { as: 'hrb', scopes: SCOPES_OF_COURIERS },
  'token of TWO': { as: 'two/two', scopes: SCOPES_OF_COURIERS },
  'token of the staff': { as: 'admin', scopes: SCOPES_OF_STAFF },
} as const;

/** The name of these tokens, by which no request finds and revokes them. */
export const TOKEN_OF_CLIENT = 'of the fuzz client';

type ServiceTokenOwner = keyof typeof SERVICE_TOKENS;

export type FuzzCaller =
  | 'nobody'
  | 'admin'
  | 'manager'
  | 'warehouse'
  | 'iex'
  | 'hrb'
  | 'disabled'
  | 'two/admin'
  | 'two/two'
  | 'spare-1'
  | 'spare-2'
  | 'key IEX'
  | 'key HRB'
  | 'key TWO'
  | ServiceTokenOwner;

/** A request before it is encoded. */
export type Plan = {
  caller: FuzzCaller;
  method: string;
  path: string;
  query: [name: string, value: string][];
  headers: [name: string, value: string][];
  mediaType?: string;
  body?: unknown;
};

/** A request as it is sent. */
export type FuzzRequest = {
  operationId: OperationId;
  /** The generator intended this request to be allowed by the contract. */
  isIntendedValid: boolean;
  caller: FuzzCaller;
  method: string;
  /** The path with its query. */
  target: string;
  headers: [name: string, value: string][];
  body?: Buffer;
};

/**
 * A courier with its callers and records. A request uses one courier's ids, or nearly all requests would be
 * rejected.
 */
export type CourierScope = { callers: Record<'token' | 'key' | 'none', FuzzCaller[]>; pools: Pools };

/** Generates requests of one operation: half are valid, half are mutated in one to three places. */
export function requestsOf(operationId: OperationId, scopes: CourierScope[]): fc.Arbitrary<FuzzRequest> {
  const plans = plansOf(operationId, scopes);
  const valid = plans.map((plan) => encode(operationId, plan, true));
  const mutated = fc
    .tuple(plans, fc.array(MUTATION, { minLength: 1, maxLength: 3 }))
    .map(([plan, mutations]) => mutate(withEncoder(operationId, plan), mutations));
  return fc.oneof(valid, mutated);
}

/** Generates valid requests, of one media type if given. */
export const plansOf = (
  operationId: OperationId,
  scopes: CourierScope[],
  mediaType?: string,
): fc.Arbitrary<Plan> => fc.oneof(...scopes.map((scope) => validPlan(operationId, scope, mediaType)));

const withEncoder = (operationId: OperationId, plan: Plan) => ({
  // mutations change the plan's values in context
  plan: structuredClone(plan),
  encode: (changed: Plan) => encode(operationId, changed, false),
});

export function encode(operationId: OperationId, plan: Plan, isIntendedValid: boolean): FuzzRequest {
  const { caller, method, path, query, headers, mediaType, body } = plan;
  const search = query.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&');
  const target = search ? `${path}?${search}` : path;
  if (mediaType === undefined) return { operationId, isIntendedValid, caller, method, target, headers };
  const { contentType, bytes } = encodeBody(mediaType, body);
  return {
    operationId,
    isIntendedValid,
    caller,
    method,
    target,
    headers: [['content-type', contentType], ...headers],
    body: bytes,
  };
}

/** Formats a request for a failure message. */
export function describeRequest({ caller, method, target, headers, body }: FuzzRequest): string {
  const parts = { caller, request: `${method} ${target}`, headers, body: body?.toString('latin1') };
  return JSON.stringify(parts).slice(0, 4_000);
}

// A lone surrogate cannot be escaped.
const escape = (text: string) => encodeURIComponent(text.toWellFormed());

/** These operations end the caller's own tokens, so they have callers of their own. */
const SELF_SERVICE_CALLERS: Partial<Record<OperationId, FuzzCaller[]>> = {
  changePassword: ['spare-1'],
  manageTwoFactor: ['spare-2'],
  manageSessions: ['spare-2'],
  // No administrator, because these settings could lock all callers out.
  updateSecuritySettings: ['manager', 'iex'],
};

function validPlan(
  operationId: OperationId,
  { callers, pools }: CourierScope,
  wanted?: string,
): fc.Arbitrary<Plan> {
  const { credential, method, path, bodyRequired } = operationOf(operationId);
  const { parameters = [], requestBody } = describeOperation(operationId);
  const values = (where: string) => {
    const own = parameters.filter((parameter) => parameter.in === where);
    const entries = own.map(({ name, schema, example }) => [
      name,
      // A repeated key would return the stored response.
      name === 'Idempotency-Key' ? fc.uuid() : textsOf(schema, example, { field: name, operationId, pools }),
    ]);
    // fromEntries loses the type of the entries above.
    const arbitraries = Object.fromEntries(entries) as Record<string, fc.Arbitrary<string>>;
    const requiredKeys = own.filter(({ required }) => required).map(({ name }) => name);
    return fc.record(arbitraries, { requiredKeys });
  };
  const bodies = Object.entries(requestBody?.content ?? {})
    .filter(([mediaType]) => wanted === undefined || mediaType === wanted)
    .map(([mediaType, media]) =>
      mediaType === NDJSON
        ? validLines(requestBody?.content['application/json'] ?? media, operationId, pools)
        : validBody(mediaType, media, operationId, pools),
    );
  const isBare = bodies.length === 0 || (!bodyRequired && wanted === undefined);
  const none = isBare ? [fc.constant({})] : [];
  return fc
    .record({
      caller: fc.constantFrom(...(SELF_SERVICE_CALLERS[operationId] ?? callers[credential])),
      inPath: values('path'),
      query: values('query'),
      headers: values('header'),
      body: fc.oneof(...bodies, ...none),
    })
    .map(({ caller, inPath, query, headers, body }) => ({
      caller,
      method,
      path: path.replace(/\{(\w+)\}/g, (_, name: string) => escape(inPath[name] ?? '')),
      query: Object.entries(query),
      headers: Object.entries(headers),
      ...body,
    }));
}

/** The example is present in the demo data, so a path built with it finds a record. */
function textsOf(schema: Schema, example: unknown, context: ValueContext): fc.Arbitrary<string> {
  const made = validValue(schema, context).map(String);
  if (example === undefined) return made;
  // Parameter values are text, numbers or booleans.
  const documented = fc.constant(String(example as string | number));
  return fc.oneof({ weight: 3, arbitrary: made }, { weight: 1, arbitrary: documented });
}

function validBody(
  mediaType: string,
  { schema = {}, examples = {} }: Media,
  operationId: OperationId,
  pools: Pools,
) {
  const made = validValue(schema, { field: '', operationId, pools });
  const documented =
    mediaType === 'application/json' ? Object.values(examples).map(({ value }) => value) : [];
  const bodies =
    documented.length === 0
      ? made
      : fc.oneof({ weight: 9, arbitrary: made }, { weight: 1, arbitrary: fc.constantFrom(...documented) });
  return bodies.map((body) => ({ mediaType, body }));
}

/** Each line is a body of the operation's JSON form; the schema of the lines is only text. */
function validLines(line: Media, operationId: OperationId, pools: Pools) {
  const lines = fc.array(validBody('application/json', line, operationId, pools), {
    minLength: 1,
    maxLength: 5,
  });
  return lines.map((bodies) => ({
    mediaType: NDJSON,
    body: bodies.map(({ body }) => JSON.stringify(body)).join('\n'),
  }));
}
