import type { ValidateFunction } from 'ajv';
import {
  dereference,
  type Bundle,
  type ContractOperation,
  type Schema,
} from '../../../src/platform/contract/bundle.js';
import { rejectUndeclared } from '../../../src/platform/contract/response-validator.js';
import { makeAjv } from '../../../src/platform/contract/validator.js';
import { bundle } from '../service/contract.js';

type ObjectSchema = Schema & { properties: Record<string, Schema> };

const ajv = makeAjv();

// as: every webhook of the contract is a POST of one JSON object that says its type
const { webhooks } = dereference(bundle) as Bundle & {
  webhooks: Record<string, { post: ContractOperation }>;
};
const bodies = Object.values(webhooks).map(
  ({ post }) => post.requestBody?.content['application/json']?.schema as ObjectSchema,
);

/** Every type of webhook that the contract declares. */
export const webhookTypes = bodies.map(({ properties }) => String(properties['type']?.['const']));

const compiled = new Map<Schema, ValidateFunction>();

/**
 * @param payload a webhook's whole body, read from its JSON
 * @throws Error unless it is what the contract says a webhook of this type carries, and holds no field more
 */
export const assertPayload = (type: string, payload: unknown): void => judge(type, bodyOf(type), payload);

/**
 * @param data what events.data holds
 * @throws Error as assertPayload does, about the field `data` alone
 */
export const assertEventData = (type: string, data: unknown): void =>
  judge(type, bodyOf(type).properties['data'] ?? {}, data);

function bodyOf(type: string): ObjectSchema {
  const body = bodies.find(({ properties }) => properties['type']?.['const'] === type);
  if (!body) throw new Error(`The contract has no webhook ${type}.`);
  return body;
}

function judge(type: string, schema: Schema, value: unknown): void {
  const validate = compiled.get(schema) ?? ajv.compile(rejectUndeclared(schema));
  compiled.set(schema, validate);
  if (validate(value)) return;
  const faults = (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
  );
  throw new Error(`${type} breaks the contract:\n${faults.join('\n')}\n${JSON.stringify(value)}`);
}
