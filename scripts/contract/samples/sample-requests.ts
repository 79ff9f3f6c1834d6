import {
  credentialOf,
  DOCUMENTED_METHODS,
  isSuccess,
  jsonOf,
  operationsOf,
  parametersOf,
  resolve,
  type Contract,
  type Example,
  type Located,
  type Media,
  type Operation,
} from '../document/openapi.js';

export type SampleRequest = {
  operationId: string;
  /** The name of the example of the body; empty without a body. */
  example: string;
  title: string;
  tag: string;
  /** That of the operation. */
  description: string;
  method: string;
  /** The path with its parameters in braces. */
  template: string;
  pathParameters: NameAndValue[];
  query: SampleParameter[];
  credential: 'key' | 'token' | 'none';
  body: Body | undefined;
  takesIdempotencyKey: boolean;
  /** The name for the response's file, if the response is not JSON. */
  download: string | undefined;
  /** Whether the response has an access token. */
  grantsToken: boolean;
};

export type NameAndValue = { name: string; value: string };
export type SampleParameter = NameAndValue & { isShown: boolean; isRequired?: boolean; description: string };
export type SampleFile = { name: string; fileName: string; contentType: string; text: string };

export type JsonBody = { type: 'json'; mediaType: string; value: unknown };
export type TextBody = { type: 'text'; mediaType: string; text: string };
export type FormBody = { type: 'form'; mediaType: string; fields: NameAndValue[] };
export type MultipartBody = {
  type: 'multipart';
  mediaType: string;
  fields: NameAndValue[];
  files: SampleFile[];
};
export type Body = JsonBody | TextBody | FormBody | MultipartBody;

/**
 * Returns the requests that documentation shows: one per operation, or one per action of an operation, with the values of the
 * contract's examples.
 */
export const sampleRequests = (bundle: Contract): SampleRequest[] =>
  operationsOf(bundle.paths, DOCUMENTED_METHODS).flatMap((located) => requestsOf(bundle, located));

/** Returns the address of the production server, with the defaults of its variables. */
export function serverUrl({ servers: [server] }: Contract): string {
  if (!server) throw new Error('The contract names no server.');
  return server.url.replace(/\{(\w+)\}/g, (_, name: string) => server.variables?.[name]?.default ?? '');
}

/** Returns the path with the values of its parameters, and the query. */
export function addressOf({ template, pathParameters, query }: SampleRequest): string {
  const path = pathParameters.reduce(
    (text, { name, value }) => text.replace(`{${name}}`, encodeURIComponent(value)),
    template,
  );
  return `${path}${searchOf(query)}`;
}

/** Returns the query from its question mark on. */
export function searchOf(query: SampleParameter[]): string {
  const shown = query.filter(({ isShown }) => isShown);
  const search = shown.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('&');
  return search && `?${search}`;
}

const NAMES_OF_COURIER = new Set(['courier_id', 'id']);

function requestsOf(bundle: Contract, { path, method, operation }: Located): SampleRequest[] {
  const { operationId, summary, description = '', tags } = operation;
  const parameters = parametersOf(bundle, operation);
  const inPlace = (place: string) =>
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
    tag: tags[0] ?? '',
    description,
    method: method.toUpperCase(),
    template: path,
    pathParameters: inPlace('path'),
    query: inPlace('query'),
    credential: credentialOf(operation.security ?? bundle.security),
    takesIdempotencyKey: inPlace('header').some(({ name }) => name === 'Idempotency-Key'),
    download: downloadName(operation),
    grantsToken: examplesOf(bundle, successOf(operation)).some(({ value }) => hasToken(value)),
  };
  const bodies = bodiesOf(bundle, operation);
  if (bodies.length === 0) return [{ ...request, example: '', title: summary, body: undefined }];
  const titleOf = (body: { title: string }) => (bodies.length === 1 ? summary : `${summary}: ${body.title}`);
  return bodies.map((body) => ({ ...request, ...body, title: titleOf(body) }));
}

const hasToken = (value: unknown) => Boolean(fieldOf(fieldOf(value, 'data'), 'access_token'));

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;

/** Returns the first example of each action in each media type. */
function bodiesOf(bundle: Contract, { operationId, requestBody }: Operation) {
  return Object.entries(requestBody?.content ?? {}).flatMap(([mediaType, media]) => {
    const seen = new Set<unknown>();
    return examplesOf(bundle, media)
      .filter(({ value }) => {
        const action = fieldOf(value, 'action');
        return !seen.has(action) && seen.add(action);
      })
      .map(({ name, summary = '', value }) => ({
        example: name,
        title: titleOf(summary, value, mediaType),
        body: bodyOf(bundle, { mediaType, operationId, ...media }, value),
      }));
  });
}

function titleOf(summary: string, value: unknown, mediaType: string): string {
  const action = fieldOf(value, 'action');
  const text = typeof action === 'string' ? action : summary;
  return mediaType === 'application/json' ? text : `${text} (${mediaType})`;
}

type TypedMedia = Media & { mediaType: string; operationId: string };

function bodyOf(bundle: Contract, media: TypedMedia, value: unknown): Body {
  const { mediaType } = media;
  if (mediaType === 'application/json') return { type: 'json', mediaType, value };
  if (typeof value === 'string') return { type: 'text', mediaType, text: value };
  const { properties = {} } = resolve(bundle, media.schema);
  const isFile = ([name]: [string, unknown]) => resolve(bundle, properties[name] ?? {}).format === 'binary';
  const entries = Object.entries({ ...(value as object) });
  const fields = entries
    .filter((entry) => !isFile(entry))
    .map(([name, field]) => ({ name, value: String(field) }));
  if (mediaType === 'application/x-www-form-urlencoded') return { type: 'form', mediaType, fields };
  const files = entries.filter(isFile).map(([name, text]) => fileOf(name, String(text), media));
  return { type: 'multipart', mediaType, fields, files };
}

const FILE_TYPES: Record<string, string> = { png: 'image/png', pdf: 'application/pdf' };

/** An example of a file is its text, or a description that contains a file name. */
function fileOf(name: string, text: string, { operationId, encoding = {} }: TypedMedia): SampleFile {
  const [described, extension = ''] = /\b[\w-]+\.(png|pdf)\b/.exec(text) ?? [];
  const fileName = described ?? `${operationId.replace(/^upload/, '').toLowerCase()}.csv`;
  const contentType = encoding[name]?.contentType ?? FILE_TYPES[extension] ?? 'text/csv';
  return { name, fileName, contentType, text };
}

function examplesOf(
  bundle: Contract,
  { example, examples = {} }: Partial<Media> = {},
): (Example & { name: string })[] {
  const named = Object.entries(examples).map(([name, each]) => ({ name, ...resolve(bundle, each) }));
  return example === undefined ? named : [{ name: 'example', summary: '', value: example }, ...named];
}

function successOf({ responses }: Operation): Media | undefined {
  const [, success = {}] = Object.entries(responses).find(([status]) => isSuccess(status)) ?? [];
  return jsonOf(success);
}

const EXTENSIONS: Record<string, string> = {
  'application/pdf': 'pdf',
  'image/png': 'png',
  'application/yaml': 'yaml',
  'text/csv': 'csv',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};

function downloadName({ operationId, responses }: Operation): string | undefined {
  const success = Object.entries(responses).find(([status]) => isSuccess(status))?.[1];
  const types = Object.keys(success?.content ?? {});
  const [first] = types;
  if (first === undefined || types.includes('application/json')) return undefined;
  return `${operationId}.${EXTENSIONS[first] ?? 'bin'}`;
}
