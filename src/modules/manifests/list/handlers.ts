import type { Handlers } from '../../../../generated/handlers.js';
import { listManifests, type ManifestPage } from './list-manifests.js';
import type { ReplyOf } from '../../../platform/contract/types.js';
import { toInfo } from '../detail/view.js';
import { countOf } from '../../../platform/values/count-of.js';

export function manifestListHandlers() {
  return {
    listManifests: async ({ ctx, query }) => viewManifests(await listManifests(ctx, query)),
  } satisfies Partial<Handlers>;
}

const viewManifests = ({ rows, limit, nextBefore }: ManifestPage): ReplyOf<'listManifests'> => ({
  statusCode: 200,
  message: `${countOf(rows.length, 'manifest')} on this page.`,
  data: rows.map(({ packages, weight_lb, ...info }) => ({
    ...toInfo(info),
    packages,
    weight_lb: Number(weight_lb),
  })),
  meta: { limit, next_before: nextBefore },
});
