// The first folder of the collection: a courier's first requests, in an order that works, as often as it is run.

import type { SampleRequest } from '../sample-requests.js';
import { markdown, toItem, type PostmanEvent, type PostmanItem } from './items.js';

/** A test of a response, whose body is `body`. Each begins with what it says when it fails. */
const test = (title: string, condition: string) =>
  `pm.test(${JSON.stringify(title)}, () => { if (!(${condition})) throw new Error(pm.response.text()); });`;
const store = (variable: string, value: string) => `pm.collectionVariables.set('${variable}', ${value});`;

const BODY = 'const body = pm.response.json();';

/** A request: its operation, its query and JSON body, and the lines of its scripts. */
type FirstRequest = {
  name: string;
  operationId: string;
  query?: [field: string, value: string][];
  body?: object;
  key?: string;
  before?: string[];
  tests: string[];
};

const REQUESTS: FirstRequest[] = [
  {
    name: 'Log in',
    operationId: 'login',
    body: { action: 'login', username: '{{username}}', password: '{{password}}' },
    tests: [
      test(
        'returns a token. A second factor needs verify_2fa in the folder Login',
        'body.data?.access_token',
      ),
      store('token', 'body.data.access_token'),
    ],
  },
  {
    name: 'Read the API key',
    operationId: 'getCourierSettings',
    tests: [
      test('returns the key of the courier. Log in as a user of a courier', 'body.data?.api_key'),
      store('apiKey', 'body.data.api_key'),
    ],
  },
  {
    name: 'Choose a customer',
    operationId: 'listCustomers',
    query: [['limit', '10']],
    tests: [
      test(
        'returns an active customer. If there is none, create one',
        'body.data.some((each) => each.is_active)',
      ),
      store('userCode', 'body.data.find((each) => each.is_active).user_code'),
    ],
  },
  {
    name: 'Submit a pre-alert',
    operationId: 'submitPrealert',
    body: { UserCode: '{{userCode}}', TrackingNumber: '{{trackingNumber}}', Vendor: 'Example Shoes' },
    key: '{{idempotencyKey}}',
    // A new number and a new key in each run.
    before: [
      "pm.collectionVariables.set('trackingNumber', pm.variables.replaceIn('PM-{{$guid}}'));",
      "pm.collectionVariables.set('idempotencyKey', pm.variables.replaceIn('{{$guid}}'));",
    ],
    tests: [test('has status 201', 'pm.response.code === 201'), store('prealertId', 'body.data.prealert_id')],
  },
  {
    name: 'Submit it again with the same Idempotency-Key',
    operationId: 'submitPrealert',
    body: { UserCode: '{{userCode}}', TrackingNumber: '{{trackingNumber}}', Vendor: 'Example Shoes' },
    key: '{{idempotencyKey}}',
    tests: [
      test(
        'returns the first response again',
        "body.data?.prealert_id === pm.collectionVariables.get('prealertId')",
      ),
    ],
  },
  {
    name: 'Find it again',
    operationId: 'listPrealerts',
    query: [['search', '{{trackingNumber}}']],
    tests: [
      test('returns the pre-alert', "body.data[0]?.prealert_id === pm.collectionVariables.get('prealertId')"),
    ],
  },
  {
    name: 'Read packages',
    operationId: 'listPackages',
    body: { limit: 10 },
    tests: [test('has status 200', 'pm.response.code === 200')],
  },
  {
    name: 'Read events',
    operationId: 'listEvents',
    query: [
      ['after', '0'],
      ['limit', '10'],
    ],
    tests: [test('has status 200', 'pm.response.code === 200')],
  },
  {
    name: 'Read the delivery log of webhooks',
    operationId: 'listWebhookDeliveries',
    query: [['limit', '10']],
    tests: [test('has status 200', 'pm.response.code === 200')],
  },
];

/** Returns the folder. Its requests are some of `requests`, with other values. */
export function startFolder(requests: SampleRequest[]): PostmanItem {
  const items = REQUESTS.map(({ name, operationId, query = [], body, key, before, tests }) => {
    const found = requests.find((each) => each.operationId === operationId);
    if (!found) throw new Error(`The contract has no operation ${operationId}.`);
    const request: SampleRequest = {
      ...found,
      title: name,
      grantsToken: false,
      query: query.map(([field, value]) => ({ name: field, value, isShown: true, description: '' })),
      body: body && { type: 'json', mediaType: 'application/json', value: body },
    };
    const events = [...(before ? [event('prerequest', before)] : []), event('test', [BODY, ...tests])];
    return { ...toItem(key ? { ...request, idempotencyKey: key } : request), event: events };
  });
  return {
    name: 'Start here',
    description: markdown(
      'The first requests of a courier, from the login to the event feed. Run the folder as often as you like.',
    ),
    item: items,
  };
}

const event = (listen: PostmanEvent['listen'], exec: string[]): PostmanEvent => ({
  listen,
  script: { type: 'text/javascript', exec },
});
