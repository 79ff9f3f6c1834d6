import { visitSchemas } from '../document/named-schemas.js';
import { operationsOf, type Contract, type Schema } from '../document/openapi.js';

/**
 * The contract as it is published. We may add values to an enum of a response within a version, and a generated client
 * must not fail then. So response schemas list their values as `x-extensible-enum`. Request schemas keep `enum`.
 */
export function openResponseEnums(bundle: Contract): Contract {
  const contract = structuredClone(bundle);
  const { schemas } = contract.components;
  const inRequests = reachable(contract, requestRoots(contract));
  const inResponses = reachable(contract, responseRoots(contract));
  for (const name of inResponses) {
    const schema = schemas[name] ?? {};
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
const refTo = (name: string) => `${PREFIX}${name}`;
const nameOf = (ref: string | undefined) => (ref?.startsWith(PREFIX) ? ref.slice(PREFIX.length) : undefined);

/** The name of the open variant of a schema that requests use too. */
const openName = (name: string) => `${name}Value`;

function openEnum(schema: Schema): Schema {
  if (!isOpenable(schema)) return schema;
  schema['x-extensible-enum'] = schema.enum;
  delete schema.enum;
  return schema;
}

/** Flags, constants and a failure's status (`fail` or `error`) never get another value. */
function isOpenable({ enum: values }: Schema): boolean {
  if (!Array.isArray(values) || values.includes('fail')) return false;
  return values.filter((value) => typeof value === 'string').length > 1;
}

function assertClosed(name: string, part: Schema): void {
  if (isOpenable(part)) throw new Error(`Name the enum inside ${name}: requests and responses use ${name}.`);
}

const namedOnlyIn = (schemas: Record<string, Schema>, these: Set<string>, others: Set<string>) =>
  [...these].filter((name) => !others.has(name)).map((name) => schemas[name]);

function requestRoots({ paths, components }: Contract): unknown[] {
  return [
    ...Object.values(components.parameters ?? {}),
    ...operationsOf(paths).flatMap(({ operation: { parameters = [], requestBody } }) => [
      ...parameters,
      requestBody ?? {},
    ]),
  ];
}

function responseRoots({ paths, components, webhooks }: Contract): unknown[] {
  const answers = operationsOf(paths).flatMap(({ operation }) => Object.values(operation.responses));
  const events = operationsOf(webhooks).map(({ operation }) => operation.requestBody);
  return [...answers, ...events, ...Object.values(components.responses)];
}

/** The names of the schemas that are used from these roots. */
function reachable({ components: { schemas } }: Contract, roots: unknown[]): Set<string> {
  const found = new Set<string>();
  const follow = (root: unknown): void =>
    visitSchemas(root, ({ $ref }) => {
      const name = nameOf($ref);
      if (!name || found.has(name)) return;
      found.add(name);
      follow(schemas[name]);
    });
  roots.forEach(follow);
  return found;
}
