import type { components } from '../../../../generated/contract.js';
import type { Handlers } from '../../../../generated/handlers.js';
import type { ReplyOf, UploadedFile } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import { targetCourierId, readSettings, regenerateKey, updateSettings } from './courier.js';
import type { Change } from '../shared/context.js';
import { pickFields, type SentFields } from '../shared/fields.js';
import { makeLogoReader, storeLogo } from '../logo/logo.js';
import { viewSettings } from './view.js';
import { rotateWebhookSecret } from './webhook-secret.js';

type Updated = ReplyOf<'updateCourierSettings'>;

const ACTIONS = {
  regenerate_key: regenerate,
  rotate_webhook_secret: rotate,
} satisfies Record<components['schemas']['CourierAction'], (change: Change) => Promise<Updated>>;

// Pages of any origin may embed a logo. It is cached forever, because another logo has another path. Nothing
// in it may execute.
const LOGO_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
};

export function courierHandlers({ db, secrets, outbound, drawLogo }: Deps) {
  const readLogo = makeLogoReader(db);

  return {
    async getCourierSettings({ query, caller }) {
      const settings = await readSettings({ db, secrets }, caller, targetCourierId(caller, query.id));
      return {
        statusCode: 200,
        message: `Settings of ${settings.courier_name}.`,
        data: viewSettings(settings),
      };
    },

    async updateCourierSettings(request): Promise<Updated> {
      const { caller, requestId, query } = request;
      const courierId = targetCourierId(caller, query.id);
      const change: Change = { db, secrets, caller, requestId, courierId };
      if (request.mediaType === 'application/json') {
        const { action, ...fields } = request.body;
        return action ? runAction(change, action, pickFields(fields)) : update(change, fields);
      }
      if (request.mediaType === 'application/x-www-form-urlencoded')
        return ACTIONS[request.body.action](change);
      const { action, logo } = request.body;
      if (action && logo) throw invalidFieldError('action', 'conflict', { other: 'logo' });
      if (logo) return saveLogo(change, logo);
      if (!action) throw invalidFieldError('logo', 'required');
      return ACTIONS[action](change);
    },

    async getCourierLogo({ path, tenantId }) {
      const { media_type: mediaType, content, content_hash: hash } = await readLogo(tenantId, path);
      return {
        statusCode: 200,
        file: { mediaType, content, headers: { ...LOGO_HEADERS, etag: `"${hash}"` } },
      };
    },
  } satisfies Pick<Handlers, 'getCourierSettings' | 'updateCourierSettings' | 'getCourierLogo'>;

  async function update(change: Change, body: SentFields): Promise<Updated> {
    const { settings, isChanged } = await updateSettings(change, pickFields(body), outbound);
    const message = isChanged
      ? 'Settings saved.'
      : 'The settings already have these values. Nothing was changed.';
    return { statusCode: 200, message, data: viewSettings(settings) };
  }

  async function saveLogo(change: Change, logo: UploadedFile): Promise<Updated> {
    const path = await storeLogo(change, logo, drawLogo);
    return { statusCode: 200, message: 'Logo stored.', data: { path } };
  }
}

/**
 * @throws ApiError validation_failed if the body has profile fields next to the action, which would be
 * ignored
 */
async function runAction(
  change: Change,
  action: components['schemas']['CourierAction'],
  fields: SentFields,
): Promise<Updated> {
  const [field] = Object.keys(fields);
  if (field) throw invalidFieldError(field, 'conflict', { other: 'action' });
  return ACTIONS[action](change);
}

async function regenerate(change: Change): Promise<Updated> {
  const api_key = await regenerateKey(change);
  const message = 'New API key created. The previous key no longer works.';
  return { statusCode: 200, message, data: { api_key } };
}

async function rotate(change: Change): Promise<Updated> {
  const webhook_secret = await rotateWebhookSecret(change);
  const message = 'New secret created. The previous secret also signs for 24 hours.';
  return { statusCode: 200, message, data: { webhook_secret } };
}
