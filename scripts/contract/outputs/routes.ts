// Makes the table of routes from which the service registers its operations. The service does not do this itself, because
// fastify-openapi-glue validates the contract first, which takes 0.7 s of CPU at each start (decision 0044).
import Fastify from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import { mapValues } from '../document/records.js';

const LINES = 'application/x-ndjson';

/**
 * Returns the route of each operation: method, path and request schemas, with every reference resolved. A body of lines gets
 * the schema of the JSON body, which is that of each line.
 *
 * @throws if the contract is not a valid OpenAPI document
 */
export async function routeTable(bundle) {
  const routes = [];
  const itemLists = itemListsOf(bundle);
  const app = Fastify({ exposeHeadRoutes: false });
  app.addHook('onRoute', ({ method, url, schema }) =>
    routes.push({ method, url, schema: requestOf(schema, itemLists) }),
  );
  await app.register(openapiGlue, {
    specification: { ...withPlainDiscriminators(bundle), paths: requestsOf(bundle.paths) },
    operationResolver: () => () => {},
  });
  await app.close();
  return routes;
}

/** Without responses, which the service does not validate (decision 0002), and security: it authenticates before it validates. */
function requestsOf(paths) {
  const omitted = { security: [], responses: { default: { description: 'see the contract' } } };
  const requestOnly = (operation) => (operation.operationId ? { ...operation, ...omitted } : operation);
  return withPlainDiscriminators(mapValues(paths, (item) => mapValues(item, requestOnly)));
}

/** Returns a copy with discriminators in the form that Ajv accepts: without a mapping, and for objects only. */
function withPlainDiscriminators(node) {
  if (Array.isArray(node)) return node.map(withPlainDiscriminators);
  if (typeof node !== 'object' || node === null) return node;
  const copy = mapValues(node, withPlainDiscriminators);
  if (typeof copy.discriminator === 'object') {
    copy.discriminator = { propertyName: copy.discriminator.propertyName };
    // Ajv's discriminator only checks objects: null or an array would pass.
    copy.type ??= 'object';
  }
  return copy;
}

/** Returns the list of each operation whose elements are validated one by one. */
function itemListsOf({ paths }) {
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  return new Map(
    operations.map(({ operationId, requestBody }) => [
      operationId,
      requestBody?.content?.['application/json']?.['x-each-item'],
    ]),
  );
}

function requestOf({ operationId, params, querystring, headers, body }, itemLists) {
  const { [LINES]: lines, 'application/json': json, ...forms } = body?.content ?? {};
  const list = itemLists.get(operationId);
  if (list) json.schema.properties[list]['x-each-item'] = true;
  if (lines && json?.schema) lines.schema = json.schema;
  for (const { schema } of Object.values(forms)) acceptUploadedFiles(schema);
  return { operationId, params, querystring, headers, body };
}

/** Lets a form's file fields accept any value: src/platform/http/bodies/forms.ts replaces them before the validation. */
function acceptUploadedFiles({ properties = {} } = {}) {
  for (const [name, { format }] of Object.entries(properties)) if (format === 'binary') properties[name] = {};
}
