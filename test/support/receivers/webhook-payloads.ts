import type { ValidateFunction } from 'ajv';
import type { Schema } from '../../../src/platform/contract/bundle.js';
import { dereference, type Bundle, type ContractOperation } from '../contract/dereference.js';
import { rejectUndeclared } from '../contract/response-validator.js';
import { makeAjv } from '../../../src/platform/contract/validator.js';
import { bundle } from '../service/contract.js';

type ObjectSchema = Schema & { properties: Record<string, Schema> };

const ajv = makeAjv();

// Every webhook of the contract is a POST of one JSON object. Events have a type, flat packages do not.
const { webhooks } = dereference(bundle) as Bundle & {
  webhooks: Record<string, { post: ContractOperation }>;
};
const schemas = Object.entries(webhooks).map(
  ([name, { post }]) =>
    [name, post.requestBody?.content['application/json']?.schema as ObjectSchema] as const,
);
const bodies = schemas.map(([, schema]) => schema).filter(({ properties }) => 'type' in properties);

/**
 * @param name of the webhook, for example `flatPackageCreated`
 * @throws Error unless the body matches the contract, without extra fields
 */
export function assertFlatPackage(name: 'flatPackageCreated' | 'flatPackageUpdated', body: unknown): void {
  validateAgainst(name, schemas.find(([each]) => each === name)?.[1] ?? {}, body);
}

/** All webhook types of the contract. */
export const webhookTypes = bodies.map(({ properties }) => String(properties['type']?.['const']));

const compiled = new Map<Schema, ValidateFunction>();

/**
 * @param payload the parsed body of a webhook
 * @throws Error unless it matches the contract for this type, without extra fields
 */
export const assertPayload = (type: string, payload: unknown): void =>
  validateAgainst(type, bodyOf(type), payload);

/**
 * @param data the value of events.data
 * @throws Error unless it matches the contract's `data` for this type, without extra fields
 */
export const assertEventData = (type: string, data: unknown): void =>
  validateAgainst(type, bodyOf(type).properties['data'] ?? {}, data);

function bodyOf(type: string): ObjectSchema {
  const body = bodies.find(({ properties }) => properties['type']?.['const'] === type);
  if (!body) throw new Error(`The contract has no webhook ${type}.`);
  return body;
}

function validateAgainst(type: string, schema: Schema, value: unknown): void {
  const validate = compiled.get(schema) ?? ajv.compile(rejectUndeclared(schema));
  compiled.set(schema, validate);
  if (validate(value)) return;
  const problems = (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
  );
  throw new Error(`${type} breaks the contract:\n${problems.join('\n')}\n${JSON.stringify(value)}`);
}
