import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../src/config/project-root.js';
import type { Contract, Operation, Parameter, Reference, Schema } from './contract.js';

/** An operation without references: what a table of operations needs. */
export type OperationEntry = {
  id: string;
  method: string;
  path: string;
  summary: string;
  tag: string;
  parameters: Parameter[];
  /** The schemas of the body, by media type. */
  bodies: Record<string, Schema>;
  /** The media types of its successful responses. */
  responds: string[];
};

/** What clients have no call for: they log in themselves, one path of an operation is enough, and the contract is a document. */
export const WITHOUT_CALL: ReadonlySet<string> = new Set([
  'login',
  'submitPrealertWithoutSuffix',
  'getContractJson',
  'getContractYaml',
  'getSdkContract',
]);

/** Returns all operations, in the order of the contract. */
export function operationsOf(contract: Contract): OperationEntry[] {
  return Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation ? [entryOf(contract, path, method, operation)] : [],
    ),
  );
}

function entryOf(contract: Contract, path: string, method: string, operation: Operation): OperationEntry {
  const { operationId: id, summary, tags, parameters = [], requestBody, responses } = operation;
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const bodies = Object.entries(requestBody?.content ?? {}).map(
    ([type, { schema }]) => [type, schema] as const,
  );
  return {
    ...{ id, method: method.toUpperCase(), path, summary, tag: tags[0] ?? '' },
    parameters: parameters.map((each) => resolveParameter(contract, each)),
    bodies: Object.fromEntries(bodies),
    responds: successes.flatMap(([, { content }]) => Object.keys(content ?? {})),
  };
}

function resolveParameter(contract: Contract, parameter: Parameter | Reference): Parameter {
  if (!('$ref' in parameter)) return parameter;
  const found = contract.components.parameters[nameOf(parameter.$ref)];
  if (!found) throw new Error(`The contract has no ${parameter.$ref}.`);
  return found;
}

/** Follows `$ref`. A description next to it replaces the one of the component. */
export function resolveSchema(contract: Contract, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...rest } = schema;
  const found = contract.components.schemas[nameOf($ref)];
  if (!found) throw new Error(`The contract has no ${$ref}.`);
  return { ...resolveSchema(contract, found), ...rest };
}

/** Returns the properties of an object schema, those of all branches together. */
export function propertiesOf(contract: Contract, schema: Schema): Record<string, Schema> {
  const { properties = {}, allOf = [], oneOf = [] } = resolveSchema(contract, schema);
  const parts = [...allOf, ...oneOf].flatMap((part) => Object.entries(propertiesOf(contract, part)));
  return { ...Object.fromEntries(parts), ...properties };
}

/** Returns the description of every failure code. */
export async function readErrorCodes(): Promise<Record<string, string>> {
  // `npm run generate` has validated the file.
  const { codes } = parse(await readFile(join(projectRoot, 'openapi', 'errors.yaml'), 'utf8')) as ErrorSource;
  return Object.fromEntries(Object.entries(codes).map(([code, { description }]) => [code, description]));
}

const nameOf = (reference: string) => reference.split('/').at(-1) ?? '';

type ErrorSource = { codes: Record<string, { description: string }> };
