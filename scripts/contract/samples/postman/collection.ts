import type { Contract } from '../../document/openapi.js';
import { sampleRequests, serverUrl } from '../sample-requests.js';
import { markdown, toItem, type PostmanDescription, type PostmanEvent, type PostmanItem } from './items.js';
import { startFolder } from './start.js';

export type PostmanCollection = {
  info: { name: string; description: PostmanDescription; schema: string };
  auth: unknown;
  variable: { key: string; value: string; type: string }[];
  event: PostmanEvent[];
  item: PostmanItem[];
};

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/**
 * Returns the contract as a Postman collection (format 2.1): a folder per tag, a request per operation or action, with the bodies of
 * the contract's examples. The first folder is a courier's first requests. Its variables hold the host, the user and the key; the login stores
 * the token. Numbers of new parcels and idempotency keys are new in each run.
 *
 * Our own, because openapi-to-postmanv2 makes one request per operation and leaves bodies with actions empty.
 */
export function buildPostmanCollection(bundle: Contract): PostmanCollection {
  const requests = sampleRequests(bundle);
  const folders = bundle.tags
    .map(({ name, description }) => ({
      name,
      description: markdown(description),
      item: requests.filter(({ tag }) => tag === name).map(toItem),
    }))
    .filter(({ item }) => item.length > 0);
  return {
    info: {
      name: `${bundle.info.title} ${bundle.info.version}`,
      description: markdown(
        `${bundle.info.summary}\n\nSet the variables \`baseUrl\`, \`username\` and \`password\`. Run the folder *Start here*: it logs in, stores the token and the API key, and submits a pre-alert. Ids in the other folders are examples: replace them by your own.`,
      ),
      schema: SCHEMA,
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: serverUrl(bundle), type: 'string' },
      // Those of the demo data.
      { key: 'username', value: 'iex', type: 'string' },
      { key: 'password', value: 'crossdock-demo', type: 'string' },
      { key: 'userCode', value: 'IEX-1001', type: 'string' },
      { key: 'apiKey', value: '', type: 'string' },
      { key: 'token', value: '', type: 'string' },
      { key: 'trackingNumber', value: '', type: 'string' },
      { key: 'idempotencyKey', value: '', type: 'string' },
      { key: 'prealertId', value: '', type: 'string' },
    ],
    event: [CHECK_RESPONSE],
    // In a run of the whole collection, logging out must come last.
    item: [
      startFolder(requests),
      ...folders.filter(isNotLast),
      ...folders.filter((each) => !isNotLast(each)),
    ],
  };
}

const isNotLast = ({ name }: PostmanItem) => name !== 'Users';

/** Runs after every request. */
const CHECK_RESPONSE: PostmanEvent = {
  listen: 'test',
  script: {
    type: 'text/javascript',
    exec: [
      "pm.test('is a response of the service, and no failure of it', () => {",
      "  if (pm.response.code >= 500 || !pm.response.headers.has('X-Request-Id')) throw new Error(pm.response.text());",
      '});',
    ],
  },
};
