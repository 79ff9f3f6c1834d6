import type { Handlers } from '../../../generated/handlers.js';
import type { Deps } from '../dependencies.js';
import { changeSettings, readSettings } from './settings.js';
import { viewSettings } from './view.js';

export function securityHandlers({ db }: Deps) {
  return {
    async getSecuritySettings({ caller }) {
      const data = viewSettings(await readSettings(db, caller));
      return { statusCode: 200, message: 'Security settings found.', data };
    },

    async updateSecuritySettings({ body, caller, requestId }) {
      const { settings, isChanged } = await changeSettings({ db, caller, requestId }, body);
      const message = isChanged
        ? 'Security settings changed.'
        : 'The settings already have these values. Nothing was changed.';
      return { statusCode: 200, message, data: viewSettings(settings) };
    },
  } satisfies Pick<Handlers, 'getSecuritySettings' | 'updateSecuritySettings'>;
}
