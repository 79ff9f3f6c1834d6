import type { components } from '../../../../generated/contract.js';
import type { Handlers } from '../../../../generated/handlers.js';
import type { Secrets } from '../../../platform/access/secrets.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { ReplyOf } from '../../../platform/contract/types.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import type { Deps } from '../../dependencies.js';
import { storeLogo } from '../logo/logo.js';
import { pickFields } from '../shared/profile.js';
import { regenerateKey } from './api-key.js';
import { readSettings, targetCourierId } from './settings.js';
import { updateSettings, type SettingsUpdate } from './update-settings.js';
import { viewSettings } from './view.js';
import { endPreviousSecret, rotateWebhookSecret } from './webhook-secret.js';

type Updated = ReplyOf<'updateCourierSettings'>;
type Action = (ctx: UserContext, secrets: Secrets, courierId: string) => Promise<Updated>;

const ACTIONS = {
  regenerate_key: regenerate,
  rotate_webhook_secret: rotate,
} satisfies Record<components['schemas']['CourierSettingsAction'], Action>;

export function courierHandlers({ secrets, outbound, drawLogo }: Deps) {
  return {
    async getCourierSettings({ ctx, query }) {
      const settings = await readSettings(ctx, secrets, targetCourierId(ctx.caller, query.id, 'id'));
      return { statusCode: 200, message: `Settings of ${settings.name}.`, data: viewSettings(settings) };
    },

    async updateCourierSettings(request): Promise<Updated> {
      const { ctx, query } = request;
      const courierId = targetCourierId(ctx.caller, query.id, 'id');
      const run = (action: keyof typeof ACTIONS) => ACTIONS[action](ctx, secrets, courierId);
      if (request.mediaType === 'application/json') {
        const { action, ...fields } = request.body;
        const sent = pickFields(fields);
        if (!action) return update(ctx, { courierId, sent });
        assertNoFields(sent);
        return run(action);
      }
      if (request.mediaType === 'application/x-www-form-urlencoded') return run(request.body.action);
      const { action, logo } = request.body;
      if (action && logo) throw invalidFieldError('action', 'conflict', { other: 'logo' });
      if (logo) {
        const path = await storeLogo(ctx, courierId, { file: logo, drawLogo });
        return { statusCode: 200, message: 'Logo stored.', data: { path } };
      }
      if (!action) throw invalidFieldError('logo', 'required');
      return run(action);
    },

    regenerateApiKey: ({ ctx, body }) =>
      regenerate(ctx, secrets, targetCourierId(ctx.caller, body.courier_id, 'courier_id')),

    rotateWebhookSecret: ({ ctx, body }) =>
      rotate(ctx, secrets, targetCourierId(ctx.caller, body.courier_id, 'courier_id')),

    async endPreviousWebhookSecret({ ctx, body }) {
      const isEnded = await endPreviousSecret(ctx, secrets, {
        courierId: targetCourierId(ctx.caller, body.courier_id, 'courier_id'),
        meantId: body.webhook_previous_secret_id,
      });
      const message = isEnded
        ? 'The previous secret no longer signs.'
        : 'There is no previous secret. Nothing was changed.';
      return { statusCode: 200, message };
    },
  } satisfies Partial<Handlers>;

  async function update(ctx: UserContext, sent: SettingsUpdate): Promise<Updated> {
    const { settings, isChanged } = await updateSettings(ctx, { secrets, outbound }, sent);
    const message = isChanged
      ? 'Settings saved.'
      : 'The settings already have these values. Nothing was changed.';
    return { statusCode: 200, message, data: viewSettings(settings) };
  }
}

/**
 * An action would ignore profile fields.
 * @throws ApiError validation_failed if there are any
 */
function assertNoFields(sent: object): void {
  const [field] = Object.keys(sent);
  if (field) throw invalidFieldError(field, 'conflict', { other: 'action' });
}

async function regenerate(
  ctx: UserContext,
  secrets: Secrets,
  courierId: string,
): Promise<ReplyOf<'regenerateApiKey'>> {
  const api_key = await regenerateKey(ctx, secrets, courierId);
  const message = 'New API key created. The previous key no longer works.';
  return { statusCode: 200, message, data: { api_key } };
}

async function rotate(
  ctx: UserContext,
  secrets: Secrets,
  courierId: string,
): Promise<ReplyOf<'rotateWebhookSecret'>> {
  const { secret: webhook_secret, previousId } = await rotateWebhookSecret(ctx, secrets, courierId);
  const message = 'New secret created. The previous secret also signs for 24 hours.';
  return { statusCode: 200, message, data: { webhook_secret, webhook_previous_secret_id: previousId } };
}
