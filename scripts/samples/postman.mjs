import { sampleRequests, searchOf, serverUrl } from './sample-requests.mjs';

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/**
 * Returns the contract as a Postman collection (format 2.1): a folder per tag, a request per operation or action, with the bodies of
 * the contract's examples. Its variables are `baseUrl`, `apiKey` and `token`; the login stores the token.
 *
 * Our own, because openapi-to-postmanv2 makes one request per operation and leaves bodies with actions empty.
 *
 * @param {object} bundle the published contract
 */
export function buildPostmanCollection(bundle) {
  const requests = sampleRequests(bundle);
  const folders = bundle.tags
    .map(({ name, description = '' }) => ({
      name,
      description: markdown(description),
      item: requests.filter(({ tag }) => tag === name).map(toItem),
    }))
    .filter(({ item }) => item.length > 0);
  return {
    info: {
      name: `${bundle.info.title} ${bundle.info.version}`,
      description: markdown(
        `${bundle.info.summary}\n\nSet the variable \`baseUrl\` to your host. Send *Log in* first: it stores the token. \`apiKey\` is only for submitting pre-alerts.`,
      ),
      schema: SCHEMA,
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: serverUrl(bundle), type: 'string' },
      { key: 'apiKey', value: '', type: 'string' },
      { key: 'token', value: '', type: 'string' },
    ],
    item: folders,
  };
}

function toItem(request) {
  const { operationId, title, method, credential, body, description, grantsToken } = request;
  const types = body?.type === 'json' || body?.type === 'text' ? [body.mediaType] : [];
  return {
    name: title,
    request: {
      method,
      description: markdown(`${description.trim()}\n\nOperation \`${operationId}\`.`),
      url: toUrl(request),
      header: types.map((type) => ({ key: 'Content-Type', value: type })),
      ...AUTHS[credential],
      ...(body ? { body: toBody(body) } : {}),
    },
    response: [],
    ...(grantsToken ? { event: [STORE_TOKEN] } : {}),
  };
}

const markdown = (content) => ({ content, type: 'text/markdown' });

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

const STORE_TOKEN = {
  listen: 'test',
  script: {
    type: 'text/javascript',
    exec: [
      'const token = pm.response.json().data?.access_token;',
      "if (token) pm.collectionVariables.set('token', token);",
    ],
  },
};

function toUrl({ template, pathParameters, query }) {
  const path = template.replace(/\{(\w+)\}/g, ':$1');
  return {
    raw: `{{baseUrl}}${path}${searchOf(query)}`,
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

function toBody(body) {
  const fields = body.fields?.map(({ name, value }) => ({ key: name, value, type: 'text' }));
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
      return { mode: 'formdata', formdata: [...files, ...fields] };
    }
  }
}
