import { visitSchemas } from '../document/named-schemas.js';

/** Marks what a generated client must not have: aliases, variants of other operations, and documents. */
const OMITTED = 'x-sdk-omit';

/**
 * Returns the published contract for code generators: without webhooks and without the parts that are marked with
 * `x-sdk-omit`, each of which has a plain operation instead. The payloads of webhooks stay as schemas. Not Redocly's
 * decorators: `remove-unused-components` keeps every unused schema that has `allOf`.
 */
export function toSdkContract(published, description) {
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

const isOmitted = (node) => node?.[OMITTED] === true;

function withoutOmitted(node) {
  if (typeof node !== 'object' || node === null) return;
  for (const [key, child] of Object.entries(node)) {
    if (Array.isArray(child)) node[key] = child.filter((each) => !isOmitted(each));
    else if (isOmitted(child)) delete node[key];
    withoutOmitted(node[key]);
  }
}

/** Replaces a `oneOf` that has one branch left by the branch. */
function unwrapSingle(schema) {
  if (schema.oneOf?.length !== 1 || schema.discriminator) return;
  const [branch] = schema.oneOf;
  delete schema.oneOf;
  Object.assign(schema, branch);
}

/** The generator for Go counts the characters of a file, which does not compile. */
function removeFileLimit(schema) {
  if (schema.format === 'binary') delete schema.maxLength;
}

/** Some generators reject a named schema that is only a reference to another. */
function inlineAliases(schemas) {
  for (const [name, { $ref, ...rest }] of Object.entries(schemas))
    if ($ref) schemas[name] = { ...schemas[$ref.split('/').at(-1)], ...rest };
}

const payloadsOf = (webhooks) =>
  Object.values(webhooks).map(({ post }) => post.requestBody.content['application/json'].schema);

/** Returns the components that the roots use, directly or through others, and the security schemes. */
function referencedComponents({ components }, roots) {
  const { securitySchemes, ...kinds } = components;
  const used = new Set();
  const follow = (node) => {
    if (typeof node !== 'object' || node === null) return;
    if (typeof node.$ref === 'string' && !used.has(node.$ref)) {
      used.add(node.$ref);
      const [kind, name] = node.$ref.split('/').slice(2);
      follow(components[kind][name]);
    }
    Object.values(node).forEach(follow);
  };
  roots.forEach(follow);
  const kept = Object.entries(kinds).map(([kind, named]) => [
    kind,
    Object.fromEntries(Object.entries(named).filter(([name]) => used.has(`#/components/${kind}/${name}`))),
  ]);
  return { securitySchemes, ...Object.fromEntries(kept) };
}
