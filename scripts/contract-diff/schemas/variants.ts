import { componentName, resolve, type Contract, type Schema } from '../contract.js';
import { mergeSchemas } from './merge.js';

/** One alternative of a schema, without references and combinations. */
export type Variant = {
  /** The value of the discriminator that selects it, such as the action. */
  key: string | undefined;
  /** The name of its component. */
  name: string | undefined;
  schema: Schema;
};

export type Union = { variants: Variant[]; discriminator: string | undefined };

type Discriminator = { propertyName: string; mapping?: Record<string, string> };

const expanded = new WeakMap<object, Union>();

/**
 * Returns the alternatives of a schema. References are followed, `allOf` is merged, and each branch of `oneOf` or `anyOf` is
 * one alternative. A schema without branches has one. So contracts that say the same in other words are equal.
 */
export function expand(contract: Contract, schema: Schema): Union {
  const known = expanded.get(schema);
  if (known) return known;
  // A schema that contains itself without a field between adds nothing to itself.
  expanded.set(schema, {
    variants: [{ key: undefined, name: undefined, schema: {} }],
    discriminator: undefined,
  });
  const union = expandNew(contract, schema);
  expanded.set(schema, union);
  return union;
}

function expandNew(contract: Contract, schema: Schema): Union {
  const { $ref: reference, allOf = [], oneOf, anyOf, discriminator, ...own } = schema;
  // JSON Schema and OpenAPI define these types.
  const parts = allOf as Schema[];
  const choice = discriminator as Discriminator | undefined;
  const target = reference === undefined ? [] : [resolve(contract, { $ref: reference })];
  const wholes = [...target, ...parts].map((part) => expand(contract, part));
  const branches = ([oneOf, anyOf] as (Schema[] | undefined)[])
    .filter((list) => list !== undefined)
    .map((list) => list.flatMap((branch) => branchVariants(contract, branch, choice)));
  const start: Variant[] = [{ key: undefined, name: componentName(schema), schema: mergeSchemas({}, own) }];
  const factors = [...wholes.map(({ variants }) => variants), ...branches];
  return {
    variants: factors.reduce(product, start),
    discriminator: choice?.propertyName ?? wholes.find((whole) => whole.discriminator)?.discriminator,
  };
}

function branchVariants(contract: Contract, branch: Schema, choice: Discriminator | undefined): Variant[] {
  const mapped = Object.entries(choice?.mapping ?? {}).find(([, target]) => target === branch['$ref']);
  const name = componentName(branch);
  // Without a mapping, OpenAPI takes the name of the component.
  const key = mapped?.[0] ?? (choice && !choice.mapping ? name : undefined);
  return expand(contract, branch).variants.map((variant) => ({
    key: variant.key ?? key,
    name: variant.name ?? name,
    schema: variant.schema,
  }));
}

const product = (variants: Variant[], factors: Variant[]): Variant[] =>
  variants.flatMap((left) =>
    factors.map((right) => ({
      key: left.key ?? right.key,
      name: right.name ?? left.name,
      schema: mergeSchemas(left.schema, right.schema),
    })),
  );
