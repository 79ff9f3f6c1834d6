import type { Handlers } from '../../../../generated/handlers.js';
import { reply } from '../../../platform/contract/reply.js';
import { readPackage } from './get-package.js';
import { viewPackageDetail } from './view.js';

export function getPackageHandlers() {
  return {
    async getPackage({ ctx, query }) {
      const detail = await readPackage(ctx, query.package);
      return reply(`Package ${detail.row.houseNumber}.`, viewPackageDetail(ctx.caller, detail));
    },
  } satisfies Pick<Handlers, 'getPackage'>;
}
