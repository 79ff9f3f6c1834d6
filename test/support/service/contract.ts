import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations, type OperationId } from '../../../generated/operations.js';
import {
  dereference,
  type Bundle,
  type ContractOperation,
  type Schema,
} from '../../../src/platform/contract/bundle.js';
import type { Operation } from '../../../src/platform/contract/types.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { filesFor } from '../../contract/fuzz/files.js';

/** The published contract as it is generated, references and all. */
export const bundle = JSON.parse(
  readFileSync(join(projectRoot, 'generated', 'openapi.json'), 'utf8'),
) as Bundle;

const contract = dereference(bundle);

// as: the generated table's own keys
export const operationIds = Object.keys(operations) as OperationId[];

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/** The methods that each path of the contract declares. */
export const methodsByPath = new Map<string, string[]>();
for (const { path, method } of Object.values(operations)) {
  methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), method]);
}

export const operationOf = (id: OperationId): Operation => operations[id];

/** An operation as the contract describes it, references resolved. */
export function describeOperation(id: OperationId): ContractOperation {
  const { method, path } = operations[id];
  const described = contract.paths[path]?.[method.toLowerCase()];
  if (!described) throw new Error(`The contract has no ${method} ${path}.`);
  return described;
}

type Parameter = { name: string; in: string; schema: Schema; required?: boolean; example?: string | number };

/** What an operation takes in its query, or in its path. */
export const parametersOf = (id: OperationId, place: 'query' | 'path'): Parameter[] =>
  ((describeOperation(id).parameters ?? []) as Parameter[]).filter((parameter) => parameter.in === place);

/** An operation's path; what is not given is as in the contract's example. */
export const filledPath = (id: OperationId, given: Record<string, string> = {}): string =>
  parametersOf(id, 'path').reduce<string>(
    (path, { name, example }) =>
      path.replace(`{${name}}`, encodeURIComponent(given[name] ?? String(example))),
    operationOf(id).path,
  );

/** One shape that a JSON body may have: an operation has one for each of its actions. */
export type BodyShape = { id: OperationId; action: string | undefined; schema: ObjectSchema; example: Body };
export type Body = Record<string, unknown>;
export type ObjectSchema = { properties: Record<string, Schema>; required?: string[] };

/** Every shape of every operation's body, each with its first example. */
export function bodyShapes(): BodyShape[] {
  return operationIds.flatMap((id) => {
    const media = describeOperation(id).requestBody?.content['application/json'];
    if (!media?.schema) return [];
    // as: bodies of this contract are objects, alone or told apart by their action
    const schemas = (media.schema['oneOf'] ?? [media.schema]) as ObjectSchema[];
    const examples = Object.values(media.examples ?? {}).map(({ value }) => value as Body);
    return schemas.map((schema) => {
      const action = schema.properties['action']?.['const'] as string | undefined;
      const fitting = examples.filter((example) => action === undefined || example['action'] === action);
      // the fullest example has the most fields to break
      const [example] = fitting.sort((a, b) => Object.keys(b).length - Object.keys(a).length);
      if (!example) throw new Error(`${id} ${action ?? ''} has no example.`);
      return { id, action, schema, example };
    });
  });
}

/** One shape of a form, urlencoded or multipart, with values and files that it takes. */
export type FormShape = BodyShape & { mediaType: string };

/** Every form of every operation. Its example is made of the reference's, and of files where it has some. */
export function formShapes(): FormShape[] {
  return operationIds.flatMap((id) =>
    Object.entries(describeOperation(id).requestBody?.content ?? {})
      .filter(([mediaType]) => mediaType !== 'application/json')
      .map(([mediaType, { schema, examples = {}, example: single }]) => {
        // as: forms of this contract are flat objects
        const shape = schema as ObjectSchema;
        const [example = {}] = [...Object.values(examples).map(({ value }) => value), single] as (
          Body | undefined
        )[];
        const action = shape.properties['action']?.['const'] as string | undefined;
        return { id, action, schema: shape, example: withFiles(shape, example), mediaType };
      }),
  );
}

/** A form's example with real files, where it has or needs some: an example can only describe them. */
export function withFiles({ properties, required = [] }: ObjectSchema, example: Body): Body {
  const files = Object.entries(properties)
    .filter(
      ([name, property]) => property['format'] === 'binary' && (name in example || required.includes(name)),
    )
    .map(([name]) => [name, filesFor(name)[0]] as const);
  return { ...example, ...Object.fromEntries(files) };
}

export const nameOfShape = ({ id, action }: Pick<BodyShape, 'id' | 'action'>): string =>
  action ? `${id} ${action}` : id;

/** The failure codes that the examples of an operation's answer show. */
export function codesOf(id: OperationId, status: number): string[] {
  const media = describeOperation(id).responses[String(status)]?.content?.['application/json'];
  const values = [media?.example, ...Object.values(media?.examples ?? {}).map(({ value }) => value)];
  // as: examples of failures are failures, which examples.test.ts holds
  return values.flatMap((value) => (value as { code?: string } | undefined)?.code ?? []);
}
