import {
  isSuccess,
  jsonOf,
  operationsOf,
  refTo,
  type Contract,
  type Operation,
  type Schema,
} from './openapi.js';

/**
 * Makes a bundled contract fit for code generators, which make a type of each named schema and guess a name for every other:
 * each JSON success has a name, `<OperationId>Result`, and each number says that it needs 64 bits.
 */
export function nameSchemas(bundle: Contract): Contract {
  for (const { operation } of operationsOf(bundle.paths)) nameOperation(bundle, operation);
  visitSchemas(bundle, (schema) => {
    // Without a format, generators for Go and Java choose 32 bits, which change amounts of money.
    if ([schema.type].flat().includes('number')) schema.format ??= 'double';
  });
  return bundle;
}

function nameOperation(
  { components: { schemas } }: Contract,
  { operationId, requestBody, responses }: Operation,
): void {
  const body = requestBody && jsonOf(requestBody);
  if (body && !body.schema.$ref)
    throw new Error(`Name the request body of ${operationId} in openapi/schemas.`);
  for (const [status, response] of Object.entries(responses)) {
    const json = jsonOf(response);
    if (!isSuccess(status) || !json || json.schema.$ref) continue;
    const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Result`;
    const known = JSON.stringify(schemas[name] ?? json.schema);
    if (known !== JSON.stringify(json.schema))
      throw new Error(`The name ${name} is taken. Rename the schema in openapi/schemas.`);
    schemas[name] = json.schema;
    json.schema = refTo('schemas', name);
  }
}

/** Calls `visit` with each object of the contract that is not an example, as a schema: every field of a schema is optional. */
export function visitSchemas(node: unknown, visit: (schema: Schema) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) visit(node);
  for (const [key, child] of Object.entries(node))
    if (key !== 'example' && key !== 'examples') visitSchemas(child, visit);
}
