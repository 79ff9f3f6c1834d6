// The tables of operations: what the service needs before a handler runs, and the type of each handler.
import { actionsOf, fileFieldsOf } from '../additions/failures-of-operation.js';
import {
  credentialOf,
  isSuccess,
  jsonOf,
  METHODS,
  operationsOf,
  parametersOf,
  resolve,
  takesIdempotencyKey,
  type Contract,
  type Located,
  type Operation,
  type Schema,
} from '../document/openapi.js';

/** Returns the module of the table of operations. */
export function operationTable(bundle: Contract): string {
  const entries = operationsOf(bundle.paths, METHODS).map((located) => entryOf(bundle, located));
  const rows = entries.map((entry) => `  ${entry.id}: ${JSON.stringify(entry)},`).join('\n');
  return `export const operations = {\n${rows}\n} as const;\n\nexport type OperationId = keyof typeof operations;\n`;
}

/** Returns the module of the type that has a handler for each operation. */
export function handlerMap(bundle: Contract): string {
  const rows = operationsOf(bundle.paths, METHODS).map(({ operation }) => {
    const id = operation.operationId;
    return `  /** ${operation.summary} */\n  ${id}: Handler<'${id}'>;`;
  });
  return `import type { Handler } from '../src/platform/contract/types.js';\n\nexport type Handlers = {\n${rows.join('\n')}\n};\n`;
}

function entryOf(bundle: Contract, { path, method, operation }: Located) {
  const { operationId, requestBody, security = bundle.security } = operation;
  const query = parametersOf(bundle, operation).filter(({ in: place }) => place === 'query');
  return {
    id: operationId,
    // Requests to two paths of one operation can be the same for an Idempotency-Key.
    sameAs: operation['x-same-operation'] ?? operationId,
    method: method.toUpperCase(),
    path,
    credential: credentialOf(security),
    permission: operation['x-permission'] ?? null,
    // A service token needs one of them.
    scopes: operation['x-scopes'] ?? [],
    mediaTypes: Object.keys(requestBody?.content ?? {}),
    bodyRequired: requestBody?.required ?? false,
    maxBodyBytes: requestBody?.['x-max-body-bytes'] ?? null,
    // Its handler also gets the bytes of the body, which have a signature.
    keepsRawBody: requestBody?.['x-raw-body'] ?? false,
    // Its responses are pages for people. Failures are pages for browsers only.
    isPage: operation['x-page'] ?? false,
    lineLimits: lineLimitsOf(operation),
    // The list whose elements are validated one by one.
    itemList: (requestBody && jsonOf(requestBody)?.['x-each-item']) ?? null,
    fileFields: fileFieldsOf(bundle, requestBody?.content).map(({ name }) => name),
    maxFileBytes: maxFileBytesOf(bundle, operation),
    queryNames: query.map(({ name }) => name),
    bodyNames: bodyNamesOf(bundle, operation),
    takesEmptyBody: takesEmptyBody(bundle, operation),
    queryDefaults: parametersOf(bundle, operation)
      .filter(({ schema }) => schema.default !== undefined)
      .map(({ name }) => name),
    actionPlaces: actionPlacesOf(bundle, operation),
    actions: actionsOf(bundle, operation),
    takesIdempotencyKey: takesIdempotencyKey(bundle, operation),
    secretFields: secretFieldsOf(bundle, operation),
    statuses: Object.keys(operation.responses).map(Number),
  };
}

/** Returns the names of the fields of every body of the operation, with all of its actions. */
function bodyNamesOf(bundle: Contract, { requestBody }: Operation): string[] {
  const namesOf = (schema: Schema): string[] => {
    const { properties = {}, oneOf = [] } = resolve(bundle, schema);
    return [...Object.keys(properties), ...oneOf.flatMap(namesOf)];
  };
  return [...new Set(Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => namesOf(schema)))];
}

/** Returns whether every field of the JSON body is optional. */
function takesEmptyBody(bundle: Contract, { requestBody }: Operation): boolean {
  const json = requestBody && jsonOf(requestBody);
  if (!json) return false;
  const { required = [], oneOf } = resolve(bundle, json.schema);
  return required.length === 0 && oneOf === undefined;
}

/** Returns the names of the success response's fields that the schema marks with `x-secret`. */
function secretFieldsOf(bundle: Contract, { responses }: Operation): string[] {
  const found = new Set<string>();
  const seen = new Set<Schema>();
  const visit = (name: string, node: Schema | undefined): void => {
    if (!node || seen.has(node)) return;
    seen.add(node);
    const schema = resolve(bundle, node);
    if (schema['x-secret']) found.add(name);
    if (schema !== node) {
      visit(name, schema);
      return;
    }
    for (const [property, child] of Object.entries(schema.properties ?? {})) visit(property, child);
    for (const child of [schema.allOf, schema.oneOf, schema.anyOf, schema.items].flat()) visit(name, child);
  };
  for (const [status, response] of Object.entries(responses))
    if (isSuccess(status)) visit('', jsonOf(response)?.schema);
  return [...found].sort();
}

/** Returns where the operation accepts an `action`: `query`, and the media types of bodies that declare one. */
function actionPlacesOf(bundle: Contract, operation: Operation): string[] {
  const declares = (schema: Schema): boolean => {
    const { properties = {}, oneOf = [] } = resolve(bundle, schema);
    return 'action' in properties || oneOf.some(declares);
  };
  const inQuery = parametersOf(bundle, operation).some(
    ({ in: place, name }) => place === 'query' && name === 'action',
  );
  const bodies = Object.entries(operation.requestBody?.content ?? {}).filter(([, { schema }]) =>
    declares(schema),
  );
  return [...(inQuery ? ['query'] : []), ...bodies.map(([mediaType]) => mediaType)];
}

/** Returns the limits of a body of lines; null if the operation takes none. */
function lineLimitsOf({ requestBody }: Operation) {
  const lines = requestBody?.content['application/x-ndjson'];
  if (!lines) return null;
  return {
    maxLines: lines['x-max-lines'],
    maxLineBytes: lines['x-max-line-bytes'],
    maxBodyBytes: lines['x-max-body-bytes'],
  };
}

/** Returns the maximum file size of the operation; null if the contract states none. */
function maxFileBytesOf(bundle: Contract, { requestBody }: Operation): number | null {
  const limits = fileFieldsOf(bundle, requestBody?.content).map(({ schema }) => schema.maxLength ?? Infinity);
  const largest = Math.max(0, ...limits);
  return largest > 0 && largest < Infinity ? largest : null;
}
