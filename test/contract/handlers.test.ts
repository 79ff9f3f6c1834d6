import { expect, test } from '@jest/globals';
import Fastify from 'fastify';
import type { Handlers } from '../../generated/handlers.js';
import { operations } from '../../generated/operations.js';
import { readRoutes } from '../../src/platform/contract/bundle.js';
import { registerRoutes } from '../../src/platform/http/routes.js';

test('the service does not start if an operation has no handler', async () => {
  const routes = await readRoutes();
  const { login: _, ...rest } = Object.fromEntries(
    Object.keys(operations).map((id) => [id, async () => ({ statusCode: 200, message: '' })]),
  );
  const boot = async (handlers: unknown) => {
    const app = Fastify();
    registerRoutes(app, routes, handlers as Handlers, {} as Parameters<typeof registerRoutes>[3], []);
    await app.ready();
    await app.close();
  };
  await expect(boot(rest)).rejects.toThrow('The operation login has no handler.');
});
