// Templates for the files of a new operation.

const inputOf = (id) => `${id[0].toUpperCase()}${id.slice(1)}Input`;

// Code generators need a name for the body.
const inputSchema = (id) => `
${inputOf(id)}:
  type: object
  properties: {}
`;

const requestBody = (id) => `    requestBody:
      required: true
      content:
        application/json:
          schema:
            $ref: '#/${inputOf(id)}'
          examples:
            request:
              summary: <What this request does>
              value: {}
`;

const isForEverybody = (roles) => ['manager', 'warehouse', 'courier'].every((role) => roles.includes(role));

const permissionDenied = `    x-errors:
      - permission_denied
`;

/**
 * Returns the operation in the contract. `npm run generate` adds the failures that every operation has.
 *
 * @param key the operation's name in its file
 * @param up the relative path from the file's folder to openapi/
 * @param tag of the module's operations
 */
export const contractEntry = ({ id, permission, method, roles }, { key, up, tag }) => `${key}:
  ${method}:
    operationId: ${id}
    summary: <What it does, in a few words>
    description: |
      <Who may call it, what it does, and its rules.>
    tags: [${tag}]
    x-addition: true
    x-permission: ${permission}
    security:
      - bearerAuth: []
${method === 'post' ? requestBody(id) : ''}    responses:
      '200':
        description: <What is returned>
        headers:
          X-Request-Id:
            $ref: ${up}common/headers.yaml#/XRequestId
        content:
          application/json:
            schema:
              allOf:
                - $ref: ${up}common/envelope.yaml#/Success
                - type: object
                  required: [data]
                  properties:
                    data:
                      type: object
                      properties: {}
            example:
              status: success
              message: <What the service says>
              data: {}
              timestamp: 1795249800
${isForEverybody(roles) ? '' : permissionDenied}${method === 'post' ? inputSchema(id) : ''}`;

/** @param up the relative path from the handler's folder to the project's root */
export const handlerFile = ({ id }, up) => `import type { Handlers } from '${up}generated/handlers.js';

export function ${id}Handlers() {
  return {
    async ${id}() {
      return { statusCode: 200, message: '<What the service says>', data: {} };
    },
  } satisfies Pick<Handlers, '${id}'>;
}
`;

const callOf = (id, method) => `${id}(${method === 'post' ? '{}' : ''})`;

const sibling = (call) => `
  test("does not show to a courier what another courier's packages amount to", async () => {
    const before = (await api.as('iex').${call}.ok()).data;
    const parcel = { tracking_number: newNumber(), weight: 1, user_code: CUSTOMERS.HRB };
    await api.as('admin').receivePackage(parcel).created();
    expect((await api.as('iex').${call}.ok()).data).toEqual(before);
  });
`;

const refusedCourier = (call) => `
  test('responds 403 to a courier', async () => {
    await api.as('iex').${call}.refused(403, 'permission_denied');
  });
`;

/**
 * Returns the test of an operation. Its isolation is tested with each layer alone, and with what changes counts.
 *
 * @param up the relative path from the test's folder to the project's root
 */
export function testFile({ id, method, roles }, up) {
  const call = callOf(id, method);
  const isForCouriers = roles.includes('courier');
  // The test is below test/.
  const support = `${up.slice(3)}support`;
  const numbers = isForCouriers ? 'CUSTOMERS, newNumber' : 'newNumber';
  return `import { describe, expect, test } from '@jest/globals';
import { ${numbers} } from '${support}/builders/parcels.js';
import { withService } from '${support}/fixture/with-service.js';

describe('${id}', () => {
  const { api } = withService();

  test('returns the data to an administrator', async () => {
    expect((await api.as('admin').${call}.ok()).data).toEqual({});
  });

  test('responds 401 without a token', async () => {
    await api.anonymous.${call}.refused(401, 'token_missing');
  });
${isForCouriers ? '' : refusedCourier(call)}});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('${id} with %s', (_name, options) => {
  const { api } = withService(options);

  // Replace the package by a record that the operation reads, and compare what the other tenant gets.
  test('returns to a tenant nothing of another one, and counts nothing of it', async () => {
    const before = (await api.as('admin').${call}.ok()).data;
    await api.as('two/admin').receivePackage({ tracking_number: newNumber(), weight: 1 }).created();
    expect((await api.as('admin').${call}.ok()).data).toEqual(before);
  });
${isForCouriers ? sibling(call) : ''}});
`;
}
