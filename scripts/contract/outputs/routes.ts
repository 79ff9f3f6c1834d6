// Makes the table of routes from which the service registers its operations. The service does not do this itself, because
// fastify-openapi-glue validates the contract first, which takes 0.7 s of CPU at each start (decision 0044).
import Fastify, { type FastifySchema } from 'fastify';
import openapiGlue, { type FastifyOpenapiGlueOptions } from 'fastify-openapi-glue';
import { jsonOf, operationsOf, type Contract, type Operation, type Schema } from '../document/openapi.js';
import { mapValues } from '../document/records.js';

const LINES = 'application/x-ndjson';

type Specification = FastifyOpenapiGlueOptions['specification'];
type Route = { method: string | string[]; url: string; schema: RequestSchema };
type RequestSchema = Pick<GlueSchema, 'operationId' | 'params' | 'querystring' | 'headers' | 'body'>;

/** What fastify-openapi-glue gives to Fastify. */
type GlueSchema = FastifySchema & {
  operationId?: string;
  body?: { content?: Record<string, { schema?: Schema }> };
};

/**
 * Returns the route of each operation: method, path and request schemas, with every reference resolved. A body of lines gets
 * the schema of the JSON body, which is that of each line.
 *
 * @throws if the contract is not a valid OpenAPI document
 */
export async function routeTable(bundle: Contract): Promise<Route[]> {
  const routes: Route[] = [];
  const itemLists = itemListsOf(bundle);
  const app = Fastify({ exposeHeadRoutes: false });
  app.addHook('onRoute', ({ method, url, schema }) => {
    // The glue below registers all routes.
    routes.push({ method, url, schema: requestOf(schema as GlueSchema, itemLists) });
  });
  await app.register(openapiGlue, {
    // The library's type of the same document.
    specification: {
      ...withPlainDiscriminators(bundle),
      paths: requestsOf(bundle.paths),
    } as unknown as Specification,
    operationResolver: () => () => {},
  });
  await app.close();
  return routes;
}

/** Without responses, which the service does not validate (decision 0002), and security: it authenticates before it validates. */
function requestsOf(paths: Contract['paths']): unknown {
  const omitted = { security: [], responses: { default: { description: 'see the contract' } } };
  const requestOnly = (operation: Operation) => ({ ...operation, ...omitted });
  return withPlainDiscriminators(mapValues(paths, (item) => mapValues(item, requestOnly)));
}

/** Returns a copy with discriminators in the form that Ajv accepts: without a mapping, and for objects only. */
function withPlainDiscriminators<Node>(node: Node): Node;
function withPlainDiscriminators(node: unknown): unknown {
  if (Array.isArray(node)) return node.map((each: unknown) => withPlainDiscriminators(each));
  if (typeof node !== 'object' || node === null) return node;
  const copy: Schema = mapValues({ ...node }, withPlainDiscriminators);
  if (typeof copy.discriminator === 'object') {
    copy.discriminator = { propertyName: copy.discriminator.propertyName };
    // Ajv's discriminator only checks objects: null or an array would pass.
    copy.type ??= 'object';
  }
  return copy;
}

/** Returns the list of each operation whose elements are validated one by one. */
const itemListsOf = ({ paths }: Contract) =>
  new Map(
    operationsOf(paths).map(({ operation: { operationId, requestBody } }) => [
      operationId,
      requestBody && jsonOf(requestBody)?.['x-each-item'],
    ]),
  );

function requestOf(
  { operationId = '', params, querystring, headers, body }: GlueSchema,
  itemLists: ReturnType<typeof itemListsOf>,
): RequestSchema {
  const { [LINES]: lines, 'application/json': json, ...forms } = body?.content ?? {};
  const list = itemLists.get(operationId);
  const items = list && json?.schema?.properties?.[list];
  if (items) items['x-each-item'] = true;
  if (lines && json?.schema) lines.schema = json.schema;
  for (const { schema = {} } of Object.values(forms)) acceptUploadedFiles(schema);
  return { operationId, params, querystring, headers, body };
}

/** Lets a form's file fields accept any value: src/platform/http/bodies/forms.ts replaces them before the validation. */
function acceptUploadedFiles({ properties = {} }: Schema): void {
  for (const [name, { format }] of Object.entries(properties)) if (format === 'binary') properties[name] = {};
}
