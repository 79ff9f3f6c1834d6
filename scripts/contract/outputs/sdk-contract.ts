import { visitSchemas } from '../document/named-schemas.js';
import {
  jsonOf,
  nameOfRef,
  operationsOf,
  refTo,
  resolve,
  type Components,
  type Contract,
  type Schema,
} from '../document/openapi.js';

/** Marks what a generated client must not have: aliases, variants of other operations, and documents. */
const OMITTED = 'x-sdk-omit';

/**
 * Returns the published contract for code generators: without webhooks and without the parts that are marked with
 * `x-sdk-omit`, each of which has a plain operation instead. The payloads of webhooks stay as schemas. Not Redocly's
 * decorators: `remove-unused-components` keeps every unused schema that has `allOf`.
 */
export function toSdkContract(published: Contract, description: string): Contract {
  const { webhooks, ...contract } = structuredClone(published);
  contract.info.description = description;
  withoutOmitted(contract);
  for (const [path, item] of Object.entries(contract.paths))
    if (Object.keys(item).length === 0) delete contract.paths[path];
  visitSchemas(contract, unwrapSingle);
  visitSchemas(contract, removeFileLimit);
  inlineAliases(contract.components.schemas);
  contract.components = referencedComponents(contract, [contract.paths, payloadsOf(webhooks)]);
  return contract;
}

const isOmitted = (node: unknown) =>
  typeof node === 'object' && node !== null && OMITTED in node && node[OMITTED] === true;

function withoutOmitted(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  // Any object or list of the contract.
  const parts = node as Record<string, unknown>;
  for (const [key, child] of Object.entries(parts)) {
    if (Array.isArray(child)) parts[key] = child.filter((each) => !isOmitted(each));
    else if (isOmitted(child)) delete parts[key];
    withoutOmitted(parts[key]);
  }
}

/** Replaces a `oneOf` that has one branch left by the branch. */
function unwrapSingle(schema: Schema): void {
  if (schema.oneOf?.length !== 1 || schema.discriminator) return;
  const [branch] = schema.oneOf;
  delete schema.oneOf;
  Object.assign(schema, branch);
}

/** The generator for Go counts the characters of a file, which does not compile. */
function removeFileLimit(schema: Schema): void {
  if (schema.format === 'binary') delete schema.maxLength;
}

/** Some generators reject a named schema that is only a reference to another. */
function inlineAliases(schemas: Record<string, Schema>): void {
  for (const [name, { $ref, ...rest }] of Object.entries(schemas))
    if ($ref) schemas[name] = { ...schemas[nameOfRef($ref)], ...rest };
}

const payloadsOf = (webhooks: Contract['webhooks']) =>
  operationsOf(webhooks).map(({ operation: { requestBody } }) => requestBody && jsonOf(requestBody)?.schema);

/** Returns the components that the roots use, directly or through others, and the security schemes. */
function referencedComponents(contract: Contract, roots: unknown[]): Components {
  const { securitySchemes, schemas, headers, parameters, responses, examples } = contract.components;
  const used = new Set<string>();
  const follow = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('$ref' in node && typeof node.$ref === 'string' && !used.has(node.$ref)) {
      used.add(node.$ref);
      follow(resolve(contract, { $ref: node.$ref }));
    }
    Object.values(node).forEach(follow);
  };
  roots.forEach(follow);
  const usedOf = <Part>(kind: keyof Components, named: Record<string, Part> = {}) =>
    Object.fromEntries(Object.entries(named).filter(([name]) => used.has(refTo(kind, name).$ref)));
  return {
    securitySchemes,
    schemas: usedOf('schemas', schemas),
    headers: usedOf('headers', headers),
    parameters: usedOf('parameters', parameters),
    responses: usedOf('responses', responses),
    examples: usedOf('examples', examples),
  };
}
