import { visitSchemas } from '../document/named-schemas.js';

/**
 * The contract as it is published. We may add values to an enum of a response within a version, and a generated client
 * must not fail then. So response schemas list their values as `x-extensible-enum`. Request schemas keep `enum`.
 */
export function openResponseEnums(bundle) {
  const contract = structuredClone(bundle);
  const { schemas } = contract.components;
  const inRequests = reachable(contract, requestRoots(contract));
  const inResponses = reachable(contract, responseRoots(contract));
  for (const name of inResponses) {
    const schema = schemas[name];
    if (!inRequests.has(name)) visitSchemas(schema, openEnum);
    else if (isOpenable(schema)) schemas[openName(name)] = openEnum({ ...schema });
    else if (!schema.enum) visitSchemas(schema, (part) => assertClosed(name, part));
  }
  for (const root of [...responseRoots(contract), ...namedOnlyIn(schemas, inResponses, inRequests)])
    visitSchemas(root, (part) => {
      const name = nameOf(part.$ref);
      if (name && inRequests.has(name) && schemas[openName(name)]) part.$ref = refTo(openName(name));
    });
  return contract;
}

const PREFIX = '#/components/schemas/';
const refTo = (name) => `${PREFIX}${name}`;
const nameOf = (ref) => (ref?.startsWith(PREFIX) ? ref.slice(PREFIX.length) : undefined);

/** The name of the open variant of a schema that requests use too. */
const openName = (name) => `${name}Value`;

function openEnum(schema) {
  if (!isOpenable(schema)) return schema;
  schema['x-extensible-enum'] = schema.enum;
  delete schema.enum;
  return schema;
}

/** Flags, constants and a failure's status (`fail` or `error`) never get another value. */
function isOpenable({ enum: values }) {
  if (!Array.isArray(values) || values.includes('fail')) return false;
  return values.filter((value) => typeof value === 'string').length > 1;
}

function assertClosed(name, part) {
  if (isOpenable(part)) throw new Error(`Name the enum inside ${name}: requests and responses use ${name}.`);
}

const namedOnlyIn = (schemas, these, others) =>
  [...these].filter((name) => !others.has(name)).map((name) => schemas[name]);

function requestRoots({ paths, components }) {
  const operations = operationsOf(paths);
  return [
    ...Object.values(components.parameters ?? {}),
    ...operations.flatMap(({ parameters = [], requestBody }) => [...parameters, requestBody ?? {}]),
  ];
}

function responseRoots({ paths, components, webhooks = {} }) {
  const answers = operationsOf(paths).flatMap(({ responses }) => Object.values(responses));
  const events = operationsOf(webhooks).map(({ requestBody }) => requestBody);
  return [...answers, ...events, ...Object.values(components.responses ?? {})];
}

const operationsOf = (paths) =>
  Object.values(paths).flatMap((item) => Object.values(item).filter(({ operationId }) => operationId));

/** The names of the schemas that are used from these roots. */
function reachable({ components: { schemas } }, roots) {
  const found = new Set();
  const follow = (root) =>
    visitSchemas(root, ({ $ref }) => {
      const name = nameOf($ref);
      if (!name || found.has(name)) return;
      found.add(name);
      follow(schemas[name]);
    });
  roots.forEach(follow);
  return found;
}
