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

/** Returns the operation in the contract. `npm run generate` adds the failures that every operation has. */
export const contractEntry = ({ id, permission, method }) => `operation:
  ${method}:
    operationId: ${id}
    summary: <What it does, in a few words>
    description: |
      <Who may call it, what it does, and its rules.>
    tags: [<Tag of the resource>]
    x-addition: true
    x-permission: ${permission}
    security:
      - bearerAuth: []
${method === 'post' ? requestBody(id) : ''}    responses:
      '200':
        description: <What is returned>
        headers:
          X-Request-Id:
            $ref: ../../common/headers.yaml#/XRequestId
        content:
          application/json:
            schema:
              allOf:
                - $ref: ../../common/envelope.yaml#/Success
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
${method === 'post' ? inputSchema(id) : ''}`;

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

export const testFile = ({
  id,
  method,
}) => `import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startService, type Service } from '../../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

test('responds 200 to an administrator', async () => {
  const { status, body } = await service.call('${id}', { as: 'admin'${method === 'post' ? ', body: {}' : ''} });
  expect({ status, data: body['data'] }).toEqual({ status: 200, data: {} });
});

test('responds 401 without a token', async () => {
  expect((await service.call('${id}'${method === 'post' ? ', { body: {} }' : ''})).status).toBe(401);
});
`;
