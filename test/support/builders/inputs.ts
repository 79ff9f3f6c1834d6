import type { Schema } from '../../../src/platform/contract/bundle.js';
import type { ContractOperation } from '../contract/dereference.js';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { encodeBody } from '../../contract/fuzz/bodies.js';
import {
  bodyShapes,
  describeOperation,
  formShapes,
  nameOfShape,
  operationIds,
  operationOf,
  type Body,
} from '../service/contract.js';
import type { Call } from '../service/service.js';

/** One value that a caller may send: a query parameter, or a field of a body at any depth. */
export type Input = {
  id: OperationId;
  /** The operation, with its action if it has several. */
  owner: string;
  /** The field as errors name it, with [] for any element: `rates[].fee`. */
  field: string;
  schema: Schema;
  /** Returns the contract's example with this value, or without the field. */
  callWith(value: unknown): Call;
};

export const inputs: Input[] = [...queryInputs(), ...bodyInputs(), ...formInputs()];

/** Returns the most privileged caller of an operation. */
export function mostPrivilegedCaller(id: OperationId): Call {
  const { credential } = operationOf(id);
  if (credential === 'none') return {};
  // This operation ends the token it is called with, and may end all tokens of the user.
  if (id === 'manageSessions') return { as: 'two/admin', isFresh: true };
  // This operation may require two-factor authentication of its own caller. bounds.test.ts has such a caller.
  if (id === 'updateSecuritySettings') return { as: 'two/admin', isFresh: true };
  return credential === 'key' ? { key: DEMO.apiKeys.IEX } : { as: 'admin' };
}

type Parameter = NonNullable<ContractOperation['parameters']>[number];

/** Returns the examples of an operation's parameters. */
function examplesOf(id: OperationId, isWanted: (parameter: Parameter) => boolean): Record<string, string> {
  const parameters = (describeOperation(id).parameters ?? []).filter(isWanted);
  // A parameter is a string, a number or a boolean.
  return Object.fromEntries(
    parameters.map(({ name, example }) => [name, String(example as string | number)]),
  );
}

export const pathOf = (id: OperationId): Record<string, string> =>
  examplesOf(id, (each) => each.in === 'path');

/** Returns the path and query parameters that a body needs. */
export const addressOf = (id: OperationId): Pick<Call, 'path' | 'query'> => ({
  path: pathOf(id),
  query: examplesOf(id, (each) => each.in === 'query'),
});

function queryInputs(): Input[] {
  return operationIds.flatMap((id) => {
    const parameters = (describeOperation(id).parameters ?? []).filter((each) => each.in === 'query');
    const body = bodyShapes().find((shape) => shape.id === id)?.example;
    const form = formShapes().find((shape) => shape.id === id && operationOf(id).mediaTypes.length === 1);
    const sent = form ? formCall(form.mediaType, form.example) : { body };
    // Filters would only narrow the response, but parameters of an operation with a body are needed.
    const base = examplesOf(
      id,
      ({ in: place, required }) => place === 'query' && (required || sent.body !== undefined),
    );
    return parameters.map(({ name, schema }) => ({
      id,
      owner: id,
      field: name,
      schema,
      callWith(value: unknown) {
        const { [name]: _, ...others } = base;
        const query =
          value === undefined
            ? others
            : { ...base, [name]: typeof value === 'string' ? value : JSON.stringify(value) };
        return { ...mostPrivilegedCaller(id), path: pathOf(id), query, ...sent };
      },
    }));
  });
}

function bodyInputs(): Input[] {
  return bodyShapes().flatMap((shape) => {
    const { id, schema, example } = shape;
    return fieldsOf(schema.properties, []).map(({ path, schema: own }) => ({
      id,
      owner: nameOfShape(shape),
      field: path.reduce((name, key) => (key === '[]' ? `${name}[]` : name ? `${name}.${key}` : key), ''),
      schema: own,
      callWith: (value: unknown) => ({
        ...mostPrivilegedCaller(id),
        ...addressOf(id),
        body: withValue(example, path, value),
      }),
    }));
  });
}

/** Returns the text fields of forms. */
function formInputs(): Input[] {
  return formShapes().flatMap(({ id, schema, example, mediaType }) =>
    Object.entries(schema.properties)
      .filter(([, own]) => own['format'] !== 'binary')
      .map(([field, own]) => ({
        id,
        owner: `${id} as ${mediaType}`,
        field,
        schema: own,
        callWith: (value: unknown) => ({
          ...mostPrivilegedCaller(id),
          ...addressOf(id),
          ...formCall(mediaType, { ...example, [field]: value }),
        }),
      })),
  );
}

/** Returns a form as a call sends it. Undefined fields are left out. */
export function formCall(mediaType: string, fields: Body): Pick<Call, 'body' | 'headers'> {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const { contentType, bytes } = encodeBody(mediaType, given);
  return { headers: { 'content-type': contentType }, body: bytes };
}

type Field = { path: string[]; schema: Schema };

function fieldsOf(properties: Record<string, Schema>, above: string[]): Field[] {
  return Object.entries(properties).flatMap(([name, schema]) => below(schema, [...above, name]));
}

function below(schema: Schema, path: string[]): Field[] {
  // JSON Schema defines these types for the keywords.
  const items = schema['items'] as Schema | undefined;
  const properties = schema['properties'] as Record<string, Schema> | undefined;
  return [
    { path, schema },
    ...(items ? below(items, [...path, '[]']) : []),
    ...(properties ? fieldsOf(properties, path) : []),
  ];
}

/** Returns a copy of an example with one value replaced, or left out if undefined. */
function withValue(example: unknown, [key = '', ...rest]: string[], value: unknown): Body {
  const own = key === '[]' ? '0' : key;
  const copy = structuredClone(example ?? (key === '[]' ? [] : {})) as Body;
  copy[own] = rest.length === 0 ? value : withValue(copy[own], rest, value);
  return copy;
}

/** Returns whether an error names the field or one of its elements. */
export const isNamed = (named: string, field: string): boolean => {
  const plain = named.replace(/\[\d+\]/g, '[]');
  return plain === field || plain.startsWith(`${field}[`) || plain.startsWith(`${field}.`);
};
