// The fields of a schema as Markdown tables.
import { resolve, type Contract, type Parameter, type Schema } from '../../document/openapi.js';

/** No other list of values is as long as that of the codes. */
const MANY_VALUES = 40;
/** Deeper fields are not listed. No schema of the contract is as deep. */
const MAX_DEPTH = 8;

/**
 * Returns the tables of a schema: one, or one for each action of a body with actions.
 *
 * @param omitted fields that are described elsewhere
 */
export function fieldTables(bundle: Contract, schema: Schema, omitted: string[] = []): string {
  const found = withOwn(bundle, schema);
  if (!found.discriminator) return tableOf(bundle, found, omitted);
  const { propertyName, mapping = {} } = found.discriminator;
  return Object.entries(mapping)
    .map(([value, $ref]) => {
      const branch = withOwn(bundle, { $ref });
      const title = `**With \`${propertyName}\`: \`${value}\`.** ${branch.description ?? ''}`.trim();
      return `${title}\n\n${tableOf(bundle, branch)}`;
    })
    .join('\n\n');
}

function tableOf(bundle: Contract, schema: Schema, omitted: string[] = []): string {
  const rows = rowsOf(bundle, schema, '', 0).filter(({ name }) => !omitted.includes(name));
  if (rows.length === 0) return `${typeOf(bundle, schema)}. ${cell(meaningOf(schema))}`.trim();
  const lines = rows.map(({ name, type, isRequired, meaning }) => {
    return `| \`${name}\` | ${type}${isRequired ? ', required' : ''} | ${cell(meaning)} |`;
  });
  return ['| Field | Type | Meaning |', '|---|---|---|', ...lines].join('\n');
}

type Row = { name: string; type: string; isRequired: boolean; meaning: string };

/** Returns a row for each field and for each field in it: `results[].line` is a field of the items of `results`. */
function rowsOf(bundle: Contract, schema: Schema, prefix: string, depth: number): Row[] {
  const { items, ...found } = flatten(bundle, schema);
  if (depth > MAX_DEPTH) return [];
  const ofItems = items ? rowsOf(bundle, items, `${prefix.replace(/\.$/, '')}[].`, depth + 1) : [];
  const own = Object.entries(found.properties ?? {}).flatMap(([field, written]) => {
    const value = flatten(bundle, written);
    const isRequired = (found.required ?? []).includes(field);
    const row = { name: prefix + field, type: typeOf(bundle, value), isRequired, meaning: meaningOf(value) };
    return [row, ...rowsOf(bundle, value, `${prefix}${field}.`, depth + 1)];
  });
  return [...ofItems, ...own];
}

/** Returns the schema of a reference, with the keywords beside the reference. */
function withOwn(bundle: Contract, { $ref, ...own }: Schema): Schema {
  return $ref ? { ...resolve<Schema>(bundle, { $ref }), ...own } : own;
}

/** Returns a schema with the fields of all its parts. Of alternatives, a field is required if all have it as such. */
function flatten(bundle: Contract, schema: Schema): Schema {
  const { allOf = [], oneOf, anyOf, ...own } = withOwn(bundle, schema);
  const parts = allOf.map((part) => flatten(bundle, part));
  const branches = (oneOf ?? anyOf ?? []).map((branch) => flatten(bundle, branch));
  const alternatives = branches.length > 0 ? [union(branches)] : [];
  const all = [...parts, ...alternatives, own];
  const merged = all.reduce((whole, part) => ({ ...whole, ...part }), {});
  const properties = all.reduce<Record<string, Schema>>(
    (whole, part) => ({ ...whole, ...part.properties }),
    {},
  );
  if (Object.keys(properties).length > 0) merged.properties = properties;
  merged.required = all.flatMap(({ required = [] }) => required);
  return merged;
}

/** Returns a schema with the fields of all alternatives. The same field of several has the values of all. */
function union(branches: Schema[]): Schema {
  const names = new Set(branches.flatMap(({ properties = {} }) => Object.keys(properties)));
  const fields = [...names].map((name): [string, Schema] => [
    name,
    eitherOf(branches.flatMap((branch) => branch.properties?.[name] ?? [])),
  ]);
  const items = branches.flatMap((branch) => branch.items ?? []);
  const required = (branches[0]?.required ?? []).filter((name) =>
    branches.every((branch) => (branch.required ?? []).includes(name)),
  );
  const types = new Set(branches.flatMap(({ type, properties: own }) => type ?? (own ? 'object' : [])));
  const values = new Set(branches.flatMap(({ const: constant, enum: listed }) => listed ?? constant ?? []));
  const first = (keyword: keyof Schema) =>
    branches.find((branch) => branch[keyword] !== undefined)?.[keyword];
  const kept = (['description', 'format', 'examples'] as const).map(
    (keyword) => [keyword, first(keyword)] as const,
  );
  return {
    ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)),
    ...(values.size > 0 ? { enum: [...values] } : {}),
    ...(types.size > 0 ? { type: types.size === 1 ? [...types].join() : [...types] } : {}),
    ...(items.length > 0 ? { items: eitherOf(items) } : {}),
    properties: Object.fromEntries(fields),
    required,
  };
}

function eitherOf(schemas: Schema[]): Schema {
  const [first = {}] = schemas;
  const areEqual = schemas.every((each) => JSON.stringify(each) === JSON.stringify(first));
  return areEqual ? first : { anyOf: schemas };
}

function typeOf(
  bundle: Contract,
  { type, format, items, properties, const: constant, enum: values }: Schema,
): string {
  const sample = constant ?? values?.[0];
  const known = type ?? (properties ? 'object' : sample === undefined ? 'any' : typeof sample);
  const names = [known].flat().map((name) => {
    if (name === 'array' && items) return `array of ${typeOf(bundle, flatten(bundle, items))}`;
    return name === 'string' && format ? `string (${format})` : name;
  });
  return names.join(' or ');
}

function meaningOf(schema: Schema): string {
  const { description = '', default: fallback, deprecated, examples = [] } = schema;
  const [example] = examples;
  // The codes of failures have a page of their own.
  if ((schema['x-extensible-enum']?.length ?? 0) > MANY_VALUES)
    return `${description.split('\n\n')[0]} [Errors](/docs/errors) lists them.`;
  const values = valuesOf(schema);
  const texts = [
    deprecated ? 'Deprecated.' : '',
    description.trim(),
    description.includes(values) ? '' : values,
    ...boundsOf(schema),
    fallback === undefined ? '' : `Default: ${code(fallback)}.`,
    example === undefined || example === '' ? '' : `Example: ${code(example)}.`,
  ];
  return texts.filter(Boolean).join(' ');
}

function valuesOf({ const: constant, enum: values, 'x-extensible-enum': extensible }: Schema): string {
  if (constant !== undefined) return `Always ${code(constant)}.`;
  if (values) return `One of ${values.map(code).join(', ')}.`;
  return extensible ? `Values: ${extensible.map(code).join(', ')}. More can be added.` : '';
}

const BOUNDS = {
  minimum: (value: number) => `At least ${value}.`,
  exclusiveMinimum: (value: number) => `More than ${value}.`,
  maximum: (value: number) => `At most ${value}.`,
  maxLength: (value: number) => `At most ${value} characters.`,
  maxItems: (value: number) => `At most ${value} items.`,
  multipleOf: (value: number) => `In steps of ${value}.`,
};

// These keys are those of the table.
const BOUND_NAMES = Object.keys(BOUNDS) as (keyof typeof BOUNDS)[];

const boundsOf = (schema: Schema): string[] =>
  BOUND_NAMES.flatMap((name) => (schema[name] === undefined ? [] : [BOUNDS[name](schema[name])]));

const code = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

/** A cell of a table is one line, without the character that separates cells. */
const cell = (text: string) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();

/** Returns the table of parameters in the query, the path and the headers. */
export function parameterTable(bundle: Contract, parameters: Parameter[]): string {
  const lines = parameters.map((written) => {
    const {
      name,
      in: place,
      required = false,
      description = '',
      schema,
      deprecated,
    } = resolve(bundle, written);
    const value = flatten(bundle, schema);
    const meaning = meaningOf({ ...value, description, deprecated });
    return `| \`${name}\` | ${place} | ${typeOf(bundle, value)}${required ? ', required' : ''} | ${cell(meaning)} |`;
  });
  return ['| Parameter | In | Type | Meaning |', '|---|---|---|---|', ...lines].join('\n');
}
