import type { Handlers } from '../../../../generated/handlers.js';
import { toInfo } from '../detail/view.js';
import { countOf } from '../../../platform/values/count-of.js';
import { listManifests } from './list-manifests.js';

export function manifestListHandlers() {
  return {
    async listManifests({ ctx, query }) {
      const { rows, meta } = await listManifests(ctx, query);
      const data = rows.map(({ packages, weight_lb, ...info }) => ({
        ...toInfo(info),
        packages,
        weight_lb: Number(weight_lb),
      }));
      return { statusCode: 200, message: `${countOf(rows.length, 'manifest')} on this page.`, data, meta };
    },
  } satisfies Partial<Handlers>;
}
