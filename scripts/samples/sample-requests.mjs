/**
 * Returns the requests that documentation shows: one per operation, or one per action of an operation, with the values of the
 * contract's examples.
 *
 * @typedef {object} SampleRequest
 * @property {string} operationId
 * @property {string} example the name of the example of the body; empty without a body
 * @property {string} title
 * @property {string} tag
 * @property {string} description of the operation
 * @property {string} method
 * @property {string} template the path with its parameters in braces
 * @property {{ name: string, value: string }[]} pathParameters
 * @property {{ name: string, value: string, isShown: boolean, isRequired: boolean, description: string }[]} query
 * @property {'key' | 'token' | 'none'} credential
 * @property {Body | undefined} body
 * @property {boolean} takesIdempotencyKey
 * @property {string | undefined} download the name for the response's file, if the response is not JSON
 * @property {boolean} grantsToken whether the response has an access token
 *
 * @typedef {{ type: 'json', mediaType: string, value: unknown }
 *   | { type: 'text', mediaType: string, text: string }
 *   | { type: 'form', mediaType: string, fields: { name: string, value: string }[] }
 *   | { type: 'multipart', mediaType: string, fields: { name: string, value: string }[], files: SampleFile[] }} Body
 *
 * @typedef {{ name: string, fileName: string, contentType: string, text: string }} SampleFile
 *
 * @param {object} bundle the published contract
 * @returns {SampleRequest[]}
 */
export function sampleRequests(bundle) {
  return Object.entries(bundle.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).flatMap((method) =>
      requestsOf(bundle, { path, method, operation: item[method] }),
    ),
  );
}

/** Returns the address of the production server, with the defaults of its variables. */
export function serverUrl({ servers: [server] }) {
  return server.url.replace(/\{(\w+)\}/g, (_, name) => server.variables[name].default);
}

/** Returns the path with the values of its parameters, and the query. */
export function addressOf({ template, pathParameters, query }) {
  const path = pathParameters.reduce(
    (text, { name, value }) => text.replace(`{${name}}`, encodeURIComponent(value)),
    template,
  );
  return `${path}${searchOf(query)}`;
}

/** Returns the query from its question mark on. */
export function searchOf(query) {
  const shown = query.filter(({ isShown }) => isShown);
  const search = shown.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('&');
  return search && `?${search}`;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

const NAMES_OF_COURIER = new Set(['courier_id', 'id']);

function requestsOf(bundle, { path, method, operation }) {
  const { operationId, summary, description = '', tags } = operation;
  const parameters = (operation.parameters ?? []).map((parameter) => resolve(bundle, parameter));
  const inPlace = (place) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, example, required = false, description = '' }) => ({
        name,
        value: String(example),
        // Staff must name the courier, in the query or in the body. Other filters would hide what the operation returns.
        isShown: required || (!operation.requestBody && NAMES_OF_COURIER.has(name)),
        isRequired: required,
        description,
      }));
  const request = {
    operationId,
    tag: tags[0],
    description,
    method: method.toUpperCase(),
    template: path,
    pathParameters: inPlace('path'),
    query: inPlace('query'),
    credential: credentialOf(operation.security ?? bundle.security ?? []),
    takesIdempotencyKey: inPlace('header').some(({ name }) => name === 'Idempotency-Key'),
    download: downloadName(operation),
    grantsToken: examplesOf(bundle, successOf(operation)).some(({ value }) => value?.data?.access_token),
  };
  const bodies = bodiesOf(bundle, operation);
  if (bodies.length === 0) return [{ ...request, example: '', title: summary, body: undefined }];
  const titleOf = (body) => (bodies.length === 1 ? summary : `${summary}: ${body.title}`);
  return bodies.map((body) => ({ ...request, ...body, title: titleOf(body) }));
}

/** Returns the first example of each action in each media type. */
function bodiesOf(bundle, { operationId, requestBody }) {
  return Object.entries(requestBody?.content ?? {}).flatMap(([mediaType, media]) => {
    const seen = new Set();
    return examplesOf(bundle, media)
      .filter(({ value }) => !seen.has(value?.action) && seen.add(value?.action))
      .map(({ name, summary, value }) => ({
        example: name,
        title: titleOf(summary, value, mediaType),
        body: bodyOf(bundle, { mediaType, operationId, ...media }, value),
      }));
  });
}

function titleOf(summary, { action }, mediaType) {
  const text = action ?? summary;
  return mediaType === 'application/json' ? text : `${text} (${mediaType})`;
}

function bodyOf(bundle, media, value) {
  const { mediaType } = media;
  if (mediaType === 'application/json') return { type: 'json', mediaType, value };
  if (typeof value === 'string') return { type: 'text', mediaType, text: value };
  const { properties = {} } = resolve(bundle, media.schema);
  const isFile = ([name]) => resolve(bundle, properties[name] ?? {}).format === 'binary';
  const entries = Object.entries(value);
  const fields = entries
    .filter((entry) => !isFile(entry))
    .map(([name, field]) => ({ name, value: String(field) }));
  if (mediaType === 'application/x-www-form-urlencoded') return { type: 'form', mediaType, fields };
  const files = entries.filter(isFile).map(([name, text]) => fileOf(name, text, media));
  return { type: 'multipart', mediaType, fields, files };
}

/** An example of a file is its text, or a description that contains a file name. */
function fileOf(name, text, { operationId, encoding = {} }) {
  const [imageName] = /\b[\w-]+\.png\b/.exec(text) ?? [];
  const fileName = imageName ?? `${operationId.replace(/^upload/, '').toLowerCase()}.csv`;
  const contentType = encoding[name]?.contentType ?? (imageName ? 'image/png' : 'text/csv');
  return { name, fileName, contentType, text };
}

function examplesOf(bundle, { example, examples = {} } = {}) {
  const named = Object.entries(examples).map(([name, each]) => ({ name, ...resolve(bundle, each) }));
  return example === undefined ? named : [{ name: 'example', summary: '', value: example }, ...named];
}

const successOf = ({ responses }) =>
  Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content?.['application/json'];

const EXTENSIONS = {
  'application/pdf': 'pdf',
  'image/png': 'png',
  'application/yaml': 'yaml',
  'text/csv': 'csv',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};

function downloadName({ operationId, responses }) {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const types = Object.keys(success?.content ?? {});
  if (types.length === 0 || types.includes('application/json')) return undefined;
  return `${operationId}.${EXTENSIONS[types[0]] ?? 'bin'}`;
}

function credentialOf(security) {
  const schemes = security.flatMap((requirement) => Object.keys(requirement));
  if (schemes.includes('bearerAuth')) return 'token';
  return schemes.length > 0 ? 'key' : 'none';
}

function resolve(bundle, node) {
  if (!node.$ref) return node;
  const keys = node.$ref.split('/').slice(1);
  const target = keys.reduce(
    (parent, key) => parent[key.replaceAll('~1', '/').replaceAll('~0', '~')],
    bundle,
  );
  return resolve(bundle, target);
}
