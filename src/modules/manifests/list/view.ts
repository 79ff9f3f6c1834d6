import type { ReplyOf } from '../../../platform/contract/types.js';
import { toInfo } from '../detail/view.js';
import type { ManifestPage } from './list-manifests.js';

export const viewManifests = ({ rows, limit, nextBefore }: ManifestPage): ReplyOf<'listManifests'> => ({
  statusCode: 200,
  message: `${rows.length === 1 ? '1 manifest' : `${rows.length} manifests`} on this page.`,
  data: rows.map(({ packages, weight_lb, ...info }) => ({
    ...toInfo(info),
    packages,
    weight_lb: Number(weight_lb),
  })),
  meta: { limit, next_before: nextBefore },
});
