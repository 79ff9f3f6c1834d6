import type { Handlers } from '../../../generated/handlers.js';
import { changeSettings, readSettings } from './settings.js';
import { viewSettings } from './view.js';

export function securityHandlers() {
  return {
    async getSecuritySettings({ ctx }) {
      const data = viewSettings(await readSettings(ctx));
      return { statusCode: 200, message: 'Security settings found.', data };
    },

    async updateSecuritySettings({ ctx, body }) {
      const { settings, isChanged } = await changeSettings(ctx, body);
      const message = isChanged
        ? 'Security settings changed.'
        : 'The settings already have these values. Nothing was changed.';
      return { statusCode: 200, message, data: viewSettings(settings) };
    },
  } satisfies Pick<Handlers, 'getSecuritySettings' | 'updateSecuritySettings'>;
}
