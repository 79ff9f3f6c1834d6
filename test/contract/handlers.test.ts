import { expect, test } from '@jest/globals';
import Fastify from 'fastify';
import type { Handlers } from '../../generated/handlers.js';
import { operations } from '../../generated/operations.js';
import { readRoutes } from '../../src/platform/contract/bundle.js';
import { byAction, type BodyOf } from '../../src/platform/contract/types.js';
import { registerRoutes } from '../../src/platform/http/routes.js';

// The compiler proves the first three: an unused `@ts-expect-error` is a compile error.

test('a handler map without one of the operations does not compile', () => {
  const { getHealth: _, ...rest } = {} as Handlers;
  // @ts-expect-error -- getHealth is missing
  const handlers: Handlers = rest;
  expect(handlers).toBeDefined();
});

test('a handler that returns a payload outside the contract does not compile', () => {
  const handlers = {
    // @ts-expect-error -- prealert_id is text
    createPrealert: async () => ({ statusCode: 201, message: 'Created.', data: { prealert_id: 7 } }),
    // @ts-expect-error -- the operation does not declare 202
    deletePrealert: async () => ({ statusCode: 202, message: 'Deleted.', data: { prealert_id: '' } }),
  } satisfies Pick<Handlers, 'createPrealert' | 'deletePrealert'>;
  expect(handlers).toBeDefined();
});

test('an action table without one of the actions does not compile', () => {
  const body = { action: 'login' } as BodyOf<'login'>;
  // @ts-expect-error -- verify_2fa is missing
  const answer = byAction(body, { login: () => 'login' });
  expect(answer).toBe('login');
});

test('the service does not start if an operation has no handler', async () => {
  const routes = await readRoutes();
  const { login: missing, ...rest } = Object.fromEntries(
    Object.keys(operations).map((id) => [id, async () => ({ statusCode: 200, message: '' })]),
  );
  expect(missing).toBeDefined();
  const boot = async (handlers: unknown) => {
    const app = Fastify();
    registerRoutes(app, routes, handlers as Handlers, {} as Parameters<typeof registerRoutes>[3], []);
    await app.ready();
    await app.close();
  };
  await expect(boot(rest)).rejects.toThrow('The operation login has no handler.');
});
