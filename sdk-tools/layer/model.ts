import type { Contract, Schema } from '../contract.js';
import { nameOf } from '../names.js';
import { operationsOf, propertiesOf, resolveSchema, type OperationEntry } from '../operations.js';
import { largestPageOf } from '../parts/page-size.js';
import { kindOf, type TimeKind } from '../parts/times.js';
import { eventTypes, type EventType } from '../parts/events.js';

/** The type of a value, in no language. */
export type ValueType =
  | { kind: 'text' | 'integer' | 'number' | 'boolean' | TimeKind | 'any' }
  | { kind: 'record'; name: string }
  | { kind: 'list'; of: ValueType };

export type Field = {
  /** Its name in the API. */
  name: string;
  type: ValueType;
  /** Missing from some records, or null. */
  isOptional: boolean;
  description: string;
};

/** A class of records that responses contain, or of inputs that requests take. */
export type Shape = { name: string; description: string; fields: Field[] };

/** One method of the layer. */
export type LayerOperation = {
  id: string;
  /** `packages` */
  group: string;
  /** `list`, `receive` */
  name: string;
  verb: string;
  path: string;
  summary: string;
  /** What the method takes: the query of a GET, else the body. Undefined for a method without input. */
  input: Shape | undefined;
  /** The type of `data`, for a list that of one record. */
  data: ValueType | undefined;
  /** `page` or `before`: how a list continues. Undefined for other operations. */
  paging: 'page' | 'before' | undefined;
  /** What a list says about all pages. */
  meta: string | undefined;
  largestPage: number;
};

export type Layer = {
  operations: LayerOperation[];
  /** What responses contain. */
  records: Shape[];
  /** What requests take. */
  inputs: Shape[];
  events: (EventType & { record: string })[];
};

/**
 * The operations that integrators call most, for the layers of Go and Java. Their types follow from the contract. The other operations
 * have methods of the generated code.
 */
const COMMON = [
  'submitPrealert',
  'listPrealerts',
  'createPrealert',
  'replacePrealert',
  'deletePrealert',
  'listPackages',
  'getPackage',
  'receivePackage',
  'updatePackage',
  'listPackageEvents',
  'listCustomers',
  'createCustomer',
  'updateCustomer',
  'listWebhookDeliveries',
];

/** Records that are not part of a response of these operations. */
const MORE = ['ExistingPrealert', 'FieldError', 'LoggedInUser'];

export function layerOf(contract: Contract): Layer {
  const records = new Map<string, Shape>();
  const inputs = new Map<string, Shape>();
  const all = operationsOf(contract);
  const operations = COMMON.map((id) => {
    const found = all.find((operation) => operation.id === id);
    if (!found) throw new Error(`The contract has no operation ${id}.`);
    return layerOperation(contract, found, { records, inputs });
  });
  for (const name of MORE) typeOf(contract, refTo(name), name, records);
  const events = eventTypes(contract).map((event) => {
    typeOf(contract, event.data, event.dataName, records);
    return { ...event, record: event.dataName };
  });
  return { operations, records: [...records.values()], inputs: [...inputs.values()], events };
}

type Found = { records: Map<string, Shape>; inputs: Map<string, Shape> };

function layerOperation(
  contract: Contract,
  entry: OperationEntry,
  { records, inputs }: Found,
): LayerOperation {
  const { id, method: verb, path, summary, tag } = entry;
  const { group, method: name } = nameOf({ operationId: id, tags: [tag] });
  const success = propertiesOf(contract, successOf(contract, id));
  const paging = id.startsWith('list') ? pagingOf(contract, entry) : undefined;
  const { data, meta } = success;
  const given = data && resolveSchema(contract, data);
  const typeName = `${upper(id)}Data`;
  const dataType = paging ? given?.['items'] : data;
  const metaType = meta && typeOf(contract, meta, `${upper(id)}Meta`, records);
  return {
    ...{ id, group, name, verb, path, summary, paging },
    input: inputOf(contract, entry, inputs),
    data: dataType ? typeOf(contract, dataType as Schema, typeName, records) : undefined,
    meta: metaType?.kind === 'record' ? metaType.name : undefined,
    largestPage: largestPageOf(contract, entry) ?? 0,
  };
}

/** The schema of a success. The list of customers has two: the page is the one that we read. */
function successOf(contract: Contract, id: string): Schema {
  if (id === 'listCustomers') return refTo('CustomerPage');
  const operations = Object.values(contract.paths).flatMap((methods) => Object.values(methods));
  const responses = operations.find((operation) => operation?.operationId === id)?.responses ?? {};
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const content = success?.content?.['application/json'] as { schema?: Schema } | undefined;
  if (!content?.schema) throw new Error(`${id} has no success in JSON.`);
  return content.schema;
}

function pagingOf(contract: Contract, { parameters, bodies }: OperationEntry): LayerOperation['paging'] {
  const body = bodies['application/json'];
  const names = [
    ...parameters.map(({ name }) => name),
    ...Object.keys(body ? propertiesOf(contract, body) : {}),
  ];
  if (!names.includes('limit')) return undefined;
  return names.includes('before') ? 'before' : 'page';
}

/** The parameters of an operation, or the fields of its body, as one class. */
function inputOf(contract: Contract, entry: OperationEntry, inputs: Map<string, Shape>): Shape | undefined {
  const body = entry.bodies['application/json'];
  if (body) {
    const name = body.$ref?.split('/').at(-1) ?? `${upper(entry.id)}Input`;
    typeOf(contract, body, name, inputs);
    return inputs.get(name);
  }
  const fields = entry.parameters
    // The method of a list has no action.
    .filter((parameter) => parameter.in === 'query' && parameter.name !== 'action')
    .map((parameter) => ({
      name: parameter.name,
      type: typeOf(contract, parameter.schema ?? {}, upper(parameter.name), inputs),
      isOptional: parameter.required !== true,
      description: descriptionOf(contract, parameter),
    }));
  if (fields.length === 0) return undefined;
  const name = `${upper(entry.id.replace(/^(get|list)/, ''))}Query`;
  const shape = { name, description: `What ${entry.id} takes.`, fields };
  inputs.set(name, shape);
  return shape;
}

const descriptionOf = (contract: Contract, parameter: { schema?: Schema }): string =>
  (parameter as { description?: string }).description ??
  (parameter.schema ? (resolveSchema(contract, parameter.schema).description ?? '') : '');

/** Returns the type of a schema, and collects the classes that it needs. `name` is that of a class without its own. */
function typeOf(contract: Contract, schema: Schema, name: string, shapes: Map<string, Shape>): ValueType {
  const time = kindOf(contract, schema);
  if (time) return { kind: time };
  const definition = resolveSchema(contract, schema);
  const types = [definition.type ?? []].flat().filter((each) => each !== 'null');
  const [type] = types;
  if (type === 'array') {
    const items = (definition['items'] ?? {}) as Schema;
    return { kind: 'list', of: typeOf(contract, items, `${name}Item`, shapes) };
  }
  if (type === 'integer' || type === 'number' || type === 'boolean') return { kind: type };
  if (type === 'string') return { kind: 'text' };
  const only = soleRecord(definition);
  if (only) return typeOf(contract, only, name, shapes);
  if (definition.oneOf || definition['anyOf']) return { kind: 'any' };
  const properties = propertiesOf(contract, definition);
  if (Object.keys(properties).length === 0) return { kind: 'any' };
  const className = nameOfSchema(schema) ?? name;
  if (!shapes.has(className)) {
    const shape: Shape = { name: className, description: definition.description ?? '', fields: [] };
    // Before its fields, because a record can contain its own kind.
    shapes.set(className, shape);
    const required = requiredOf(contract, definition);
    shape.fields = Object.entries(properties).map(([field, property]) => ({
      name: field,
      type: typeOf(contract, property, `${className}${upper(field)}`, shapes),
      isOptional: !required.has(field) || isNullable(contract, property),
      description: resolveSchema(contract, property).description ?? '',
    }));
  }
  return { kind: 'record', name: className };
}

/** `anyOf` or `oneOf` of a record and null. */
function soleRecord(definition: Schema): Schema | undefined {
  const branches = (definition.oneOf ?? definition['anyOf'] ?? []) as Schema[];
  const records = branches.filter(({ type }) => type !== 'null');
  return branches.length === 2 && records.length === 1 ? records[0] : undefined;
}

function isNullable(contract: Contract, schema: Schema): boolean {
  const { type, oneOf, ...definition } = resolveSchema(contract, schema);
  const branches = (oneOf ?? definition['anyOf'] ?? []) as Schema[];
  return [type].flat().includes('null') || branches.some((branch) => branch.type === 'null');
}

function requiredOf(contract: Contract, { required = [], allOf = [] }: Schema): Set<string> {
  const parts = allOf.flatMap((part) => [...requiredOf(contract, resolveSchema(contract, part))]);
  return new Set([...required, ...parts]);
}

const nameOfSchema = ({ $ref }: Schema) => $ref?.split('/').at(-1);
const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** `listPackages` and `created_at` as `ListPackages` and `CreatedAt`. */
export const upper = (name: string) =>
  name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
