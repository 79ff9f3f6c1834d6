import type { Handlers } from '../../../../generated/handlers.js';
import { listManifests } from './list-manifests.js';
import { viewManifests } from './view.js';

export function manifestListHandlers() {
  return {
    listManifests: async ({ ctx, query }) => viewManifests(await listManifests(ctx, query)),
  } satisfies Pick<Handlers, 'listManifests'>;
}
