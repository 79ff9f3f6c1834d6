import { searchOf, type Body, type SampleRequest } from '../sample-requests.js';

export type PostmanDescription = { content: string; type: string };
export type PostmanEvent = {
  listen: 'test' | 'prerequest';
  script: { type: 'text/javascript'; exec: string[] };
};
/** A request, or a folder of them. */
export type PostmanItem = {
  name: string;
  description?: PostmanDescription;
  item?: PostmanItem[];
  request?: PostmanRequest;
  response?: never[];
  protocolProfileBehavior?: { followRedirects: boolean };
  event?: PostmanEvent[];
};
type PostmanRequest = {
  method: string;
  description: PostmanDescription;
  url: {
    raw: string;
    host: string[];
    path: string[];
    query: object[];
    variable: { key: string; value: string }[];
  };
  header?: { key: string; value: string }[];
  auth?: object;
  body?: object;
};

/** Returns a request of `sampleRequests` as an item of the collection. */
export function toItem(request: SampleRequest & { idempotencyKey?: string }): PostmanItem {
  const { operationId, title, method, credential, body, description, grantsToken } = request;
  const types = body?.type === 'json' || body?.type === 'text' ? [body.mediaType] : [];
  const headers = types.map((value) => ({ key: 'Content-Type', value }));
  if (request.takesIdempotencyKey)
    headers.push({ key: 'Idempotency-Key', value: request.idempotencyKey ?? '{{$guid}}' });
  return {
    name: title,
    request: {
      method,
      description: markdown(`${description.trim()}\n\nOperation \`${operationId}\`.`),
      url: toUrl(request),
      ...(headers.length > 0 ? { header: headers } : {}),
      ...AUTHS[credential],
      ...(body ? { body: toBody(withVariables(operationId, body)) } : {}),
    },
    response: [],
    // A redirect would send the credential to another host.
    protocolProfileBehavior: { followRedirects: false },
    ...(grantsToken ? { event: [STORE_TOKEN] } : {}),
  };
}

/** The operations that create a parcel, and fail if its number exists. */
const CREATES_PARCEL = new Set([
  'submitPrealert',
  'submitPrealertWithoutSuffix',
  'createPrealert',
  'receivePackage',
]);

/** Returns a body with variables for what differs between users and runs. */
function withVariables(operationId: string, body: Body): Body {
  const value = valueOf(body);
  if (operationId === 'login' && 'username' in value)
    return { ...body, type: 'json', value: { ...value, username: '{{username}}', password: '{{password}}' } };
  if (!CREATES_PARCEL.has(operationId)) return body;
  if (body.type === 'text') return { ...body, text: body.text.replace(NUMBER_IN_LINE, '$1PM-{{$guid}}') };
  const names = ['TrackingNumber', 'tracking_number'].filter((name) => name in value);
  const numbers = Object.fromEntries(
    names.map((name) => [name, String(value[name]).includes('{{') ? value[name] : 'PM-{{$guid}}']),
  );
  return { ...body, type: 'json', value: { ...value, ...numbers } };
}

/** Returns the fields of a JSON body. */
const valueOf = (body: Body): Record<string, unknown> =>
  body.type === 'json' ? { ...(body.value as object) } : {};

const NUMBER_IN_LINE = /("TrackingNumber":")[^"]+/g;

export const markdown = (content: string): PostmanDescription => ({ content, type: 'text/markdown' });

const AUTHS = {
  // Requests inherit the token from the collection.
  token: {},
  none: { auth: { type: 'noauth' } },
  key: {
    auth: {
      type: 'apikey',
      apikey: [
        { key: 'key', value: 'X-API-KEY', type: 'string' },
        { key: 'value', value: '{{apiKey}}', type: 'string' },
        { key: 'in', value: 'header', type: 'string' },
      ],
    },
  },
};

const STORE_TOKEN: PostmanEvent = {
  listen: 'test',
  script: {
    type: 'text/javascript',
    exec: [
      'const token = pm.response.json().data?.access_token;',
      "if (token) pm.collectionVariables.set('token', token);",
    ],
  },
};

/** Postman replaces variables before it encodes the address. */
const withPlainVariables = (search: string) => search.replaceAll('%7B%7B', '{{').replaceAll('%7D%7D', '}}');

function toUrl({ template, pathParameters, query }: SampleRequest): PostmanRequest['url'] {
  const path = template.replace(/\{(\w+)\}/g, ':$1');
  return {
    raw: `{{baseUrl}}${path}${withPlainVariables(searchOf(query))}`,
    host: ['{{baseUrl}}'],
    path: path.split('/').slice(1),
    // Postman shows disabled parameters with a box to tick.
    query: query.map((parameter) => ({
      key: parameter.name,
      value: parameter.value,
      description: markdown(parameter.description),
      disabled: !parameter.isShown,
    })),
    variable: pathParameters.map(({ name, value }) => ({ key: name, value })),
  };
}

function toBody(body: Body): object {
  const given = 'fields' in body ? body.fields : [];
  const fields = given.map(({ name, value }) => ({ key: name, value }));
  switch (body.type) {
    case 'json':
      return {
        mode: 'raw',
        raw: JSON.stringify(body.value, null, 2),
        options: { raw: { language: 'json' } },
      };
    case 'text':
      return { mode: 'raw', raw: body.text };
    case 'form':
      return { mode: 'urlencoded', urlencoded: fields };
    case 'multipart': {
      const files = body.files.map(({ name, fileName, contentType }) => ({
        key: name,
        type: 'file',
        src: fileName,
        contentType,
      }));
      return {
        mode: 'formdata',
        formdata: [...files, ...fields.map((field) => ({ ...field, type: 'text' }))],
      };
    }
  }
}
