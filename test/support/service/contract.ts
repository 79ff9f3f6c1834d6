import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations, type OperationId } from '../../../generated/operations.js';
import type { Contract } from '../../../scripts/contract/document/openapi.js';
import type { Schema } from '../../../src/platform/contract/bundle.js';
import { dereference, type Bundle, type ContractOperation } from '../contract/dereference.js';
import { NDJSON, type Operation } from '../../../src/platform/contract/types.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { filesFor } from '../../contract/fuzz/files.js';

/** The published contract as generated, with its references. */
export const bundle = JSON.parse(
  readFileSync(join(projectRoot, 'generated', 'openapi.json'), 'utf8'),
) as Bundle & Contract;

const contract = dereference(bundle);

// Object.keys loses the type of the generated table's keys.
export const operationIds = Object.keys(operations) as OperationId[];

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/** The methods that each path of the contract declares. */
export const methodsByPath = new Map<string, string[]>();
for (const { path, method } of Object.values(operations)) {
  methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), method]);
}

export const operationOf = (id: OperationId): Operation => operations[id];

/** Returns an operation of the contract with its references resolved. */
export function describeOperation(id: OperationId): ContractOperation {
  const { method, path } = operations[id];
  const described = contract.paths[path]?.[method.toLowerCase()];
  if (!described) throw new Error(`The contract has no ${method} ${path}.`);
  return described;
}

type Parameter = { name: string; in: string; schema: Schema; required?: boolean; example?: string | number };

/** Returns the query parameters or the path parameters of an operation. */
export const parametersOf = (id: OperationId, place: 'query' | 'path'): Parameter[] =>
  ((describeOperation(id).parameters ?? []) as Parameter[]).filter((parameter) => parameter.in === place);

/** Returns the path of an operation. Parameters that are not given have the values of the contract's examples. */
export const filledPath = (id: OperationId, given: Record<string, string> = {}): string =>
  parametersOf(id, 'path').reduce<string>(
    (path, { name, example }) =>
      path.replace(`{${name}}`, encodeURIComponent(given[name] ?? String(example))),
    operationOf(id).path,
  );

/** One shape of a JSON body. An operation with actions has one per action. */
export type BodyShape = { id: OperationId; action: string | undefined; schema: ObjectSchema; example: Body };
export type Body = Record<string, unknown>;
export type ObjectSchema = { properties: Record<string, Schema>; required?: string[] };

/** Returns every body shape of every operation, each with its example that has the most fields. */
export function bodyShapes(): BodyShape[] {
  return operationIds.flatMap((id) => {
    const media = describeOperation(id).requestBody?.content['application/json'];
    if (!media?.schema) return [];
    // JSON bodies in this contract are objects, or a oneOf of objects that differ by their action.
    const schemas = (media.schema['oneOf'] ?? [media.schema]) as ObjectSchema[];
    const examples = Object.values(media.examples ?? {}).map(({ value }) => value as Body);
    return schemas.map((schema) => {
      const action = schema.properties['action']?.['const'] as string | undefined;
      const fitting = examples.filter((example) => action === undefined || example['action'] === action);
      // The example with the most fields gives the tests the most fields to change.
      const [example] = fitting.sort((a, b) => Object.keys(b).length - Object.keys(a).length);
      if (!example) throw new Error(`${id} ${action ?? ''} has no example.`);
      return { id, action, schema, example };
    });
  });
}

/** One shape of an urlencoded or multipart form, with values and files that the operation accepts. */
export type FormShape = BodyShape & { mediaType: string };

/** Returns every form of every operation, with the contract's example and real files. */
export function formShapes(): FormShape[] {
  return operationIds.flatMap((id) =>
    Object.entries(describeOperation(id).requestBody?.content ?? {})
      .filter(([mediaType]) => mediaType !== 'application/json' && mediaType !== NDJSON)
      .map(([mediaType, { schema, examples = {}, example: single }]) => {
        // Forms in this contract are flat objects.
        const shape = schema as ObjectSchema;
        const [example = {}] = [...Object.values(examples).map(({ value }) => value), single] as (
          | Body
          | undefined
        )[];
        const action = shape.properties['action']?.['const'] as string | undefined;
        return { id, action, schema: shape, example: withFiles(id, shape, example), mediaType };
      }),
  );
}

/** Returns the example with a real file in each file field that it has or requires. An example cannot contain files. */
export function withFiles(id: OperationId, { properties, required = [] }: ObjectSchema, example: Body): Body {
  const files = Object.entries(properties)
    .filter(
      ([name, property]) => property['format'] === 'binary' && (name in example || required.includes(name)),
    )
    .map(([name]) => [name, filesFor(name, id)[0]] as const);
  return { ...example, ...Object.fromEntries(files) };
}

export const nameOfShape = ({ id, action }: Pick<BodyShape, 'id' | 'action'>): string =>
  action ? `${id} ${action}` : id;

/** Returns the error codes in the examples of an operation's response. */
export function codesOf(id: OperationId, status: number): string[] {
  const media = describeOperation(id).responses[String(status)]?.content?.['application/json'];
  const values = [media?.example, ...Object.values(media?.examples ?? {}).map(({ value }) => value)];
  // Failure examples have this shape; examples.test.ts checks it.
  return values.flatMap((value) => (value as { code?: string } | undefined)?.code ?? []);
}
