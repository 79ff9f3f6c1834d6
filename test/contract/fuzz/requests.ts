import fc from 'fast-check';
import type { Media, Schema } from '../../../src/platform/contract/bundle.js';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { describeOperation, operationOf } from '../../support/service/contract.js';
import { encodeBody } from './bodies.js';
import { MUTATION, mutate } from './mutations.js';
import type { Pools } from './pools.js';
import { validValue, type Place } from './values.js';

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
  | 'key TWO';

/** What a request is made of, before it is encoded. */
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
  /** The generator meant it as one that the contract allows. */
  isMeantValid: boolean;
  caller: FuzzCaller;
  method: string;
  /** With its query. */
  target: string;
  headers: [name: string, value: string][];
  body?: Buffer;
};

/** A courier, and who acts for it: what a request names belongs together, else hardly one would be taken. */
export type Home = { callers: Record<'token' | 'key' | 'none', FuzzCaller[]>; pools: Pools };

/** Requests of one operation, half of them valid and half of them spoilt in up to three places. */
export function requestsOf(operationId: OperationId, homes: Home[]): fc.Arbitrary<FuzzRequest> {
  const plans = plansOf(operationId, homes);
  const valid = plans.map((plan) => encode(operationId, plan, true));
  const spoilt = fc
    .tuple(plans, fc.array(MUTATION, { minLength: 1, maxLength: 3 }))
    .map(([plan, mutations]) => mutate(encodeLater(operationId, plan), mutations));
  return fc.oneof(valid, spoilt);
}

/** Valid ones, of one media type where it is said. */
export const plansOf = (operationId: OperationId, homes: Home[], mediaType?: string): fc.Arbitrary<Plan> =>
  fc.oneof(...homes.map((home) => validPlan(operationId, home, mediaType)));

const encodeLater = (operationId: OperationId, plan: Plan) => ({
  // mutations change the plan's values in place
  plan: structuredClone(plan),
  encode: (changed: Plan) => encode(operationId, changed, false),
});

export function encode(operationId: OperationId, plan: Plan, isMeantValid: boolean): FuzzRequest {
  const { caller, method, path, query, headers, mediaType, body } = plan;
  const search = query.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&');
  const target = search ? `${path}?${search}` : path;
  if (mediaType === undefined) return { operationId, isMeantValid, caller, method, target, headers };
  const { contentType, bytes } = encodeBody(mediaType, body);
  return {
    operationId,
    isMeantValid,
    caller,
    method,
    target,
    headers: [['content-type', contentType], ...headers],
    body: bytes,
  };
}

/** A request as one can send it again. */
export function shown({ caller, method, target, headers, body }: FuzzRequest): string {
  const parts = { caller, request: `${method} ${target}`, headers, body: body?.toString('latin1') };
  return JSON.stringify(parts).slice(0, 4_000);
}

// a lone surrogate cannot be escaped
const escape = (text: string) => encodeURIComponent(text.toWellFormed());

/** What a caller does to itself ends its tokens: these have callers of their own. */
const OF_ITSELF: Partial<Record<OperationId, FuzzCaller[]>> = {
  changePassword: ['spare-1'],
  manageTwoFactor: ['spare-2'],
  manageSessions: ['spare-2'],
  // no administrator: what it sets may lock everybody out
  updateSecuritySettings: ['manager', 'iex'],
};

function validPlan(operationId: OperationId, { callers, pools }: Home, wanted?: string): fc.Arbitrary<Plan> {
  const { credential, method, path, bodyRequired } = operationOf(operationId);
  const { parameters = [], requestBody } = describeOperation(operationId);
  const values = (where: string) => {
    const own = parameters.filter((parameter) => parameter.in === where);
    const entries = own.map(({ name, schema, example }) => [
      name,
      // a key that came before would keep the request from being looked at
      name === 'Idempotency-Key' ? fc.uuid() : textsOf(schema, example, { field: name, operationId, pools }),
    ]);
    // as: the entries just made
    const arbitraries = Object.fromEntries(entries) as Record<string, fc.Arbitrary<string>>;
    const requiredKeys = own.filter(({ required }) => required).map(({ name }) => name);
    return fc.record(arbitraries, { requiredKeys });
  };
  const bodies = Object.entries(requestBody?.content ?? {})
    .filter(([mediaType]) => wanted === undefined || mediaType === wanted)
    .map(([mediaType, media]) => validBody(mediaType, media, operationId, pools));
  const isBare = bodies.length === 0 || (!bodyRequired && wanted === undefined);
  const none = isBare ? [fc.constant({})] : [];
  return fc
    .record({
      caller: fc.constantFrom(...(OF_ITSELF[operationId] ?? callers[credential])),
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

/** The example is what demo data has, which a path may need to lead anywhere. */
function textsOf(schema: Schema, example: unknown, place: Place): fc.Arbitrary<string> {
  const made = validValue(schema, place).map(String);
  if (example === undefined) return made;
  // as: what a parameter holds is text, a number or a boolean
  const shown = fc.constant(String(example as string | number));
  return fc.oneof({ weight: 3, arbitrary: made }, { weight: 1, arbitrary: shown });
}

function validBody(
  mediaType: string,
  { schema = {}, examples = {} }: Media,
  operationId: OperationId,
  pools: Pools,
) {
  const made = validValue(schema, { field: '', operationId, pools });
  const shown = mediaType === 'application/json' ? Object.values(examples).map(({ value }) => value) : [];
  const bodies =
    shown.length === 0
      ? made
      : fc.oneof({ weight: 9, arbitrary: made }, { weight: 1, arbitrary: fc.constantFrom(...shown) });
  return bodies.map((body) => ({ mediaType, body }));
}
