import type { Handlers } from '../../../../generated/handlers.js';
import type { Deps } from '../../dependencies.js';
import { targetCourierId } from './settings.js';
import { deleteLogo, makeLogoReader, storeLogo } from '../logo/logo.js';

// Pages of any origin may embed a logo. It is cached forever, because another logo has another path. Nothing
// in it may execute.
const LOGO_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
};

export function courierLogoHandlers({ drawLogo }: Deps) {
  const readLogo = makeLogoReader();

  return {
    async uploadLogo({ ctx, body }) {
      const courierId = targetCourierId(ctx.caller, body.courier_id, 'courier_id');
      const path = await storeLogo(ctx, courierId, { file: body.logo, drawLogo });
      return { statusCode: 200, message: 'Logo stored.', data: { path } };
    },

    async deleteLogo({ ctx, body }) {
      const isDeleted = await deleteLogo(ctx, targetCourierId(ctx.caller, body.courier_id, 'courier_id'));
      const message = isDeleted ? 'Logo deleted.' : 'There is no logo. Nothing was changed.';
      return { statusCode: 200, message };
    },

    async getCourierLogo({ ctx, path }) {
      const { mediaType, content, contentHash } = await readLogo(ctx, path);
      return {
        statusCode: 200,
        file: { mediaType, content, headers: { ...LOGO_HEADERS, etag: `"${contentHash}"` } },
      };
    },
  } satisfies Partial<Handlers>;
}
