import type { components } from '../../../../generated/contract.js';
import type { Handlers } from '../../../../generated/handlers.js';
import type { Secrets } from '../../../platform/access/secrets.js';
import type { PersonContext, UserContext } from '../../../platform/context/request-context.js';
import { recordOf } from '../../../platform/contract/record.js';
import { outcomeOf, reply } from '../../../platform/contract/reply.js';
import { nothingToChange } from '../../../platform/contract/sent-names.js';
import type { DataOf, ReplyOf } from '../../../platform/contract/types.js';
import { ApiError, invalidFieldError } from '../../../platform/errors/errors.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import { confirming, type Settle } from '../../auth/public.js';
import type { Deps } from '../../dependencies.js';
import { deleteLogo, makeLogoReader, pathOf, storeLogo } from '../logo/logo.js';
import { pickFields } from '../shared/profile.js';
import { regenerateKey } from './api-key.js';
import { targetCourierId } from '../shared/target-courier.js';
import { readSettings, type Settings } from './settings.js';
import { updateSettings, type SettingsUpdate } from './update-settings.js';
import { endPreviousSecret, rotateWebhookSecret } from './webhook-secret.js';

type Updated = ReplyOf<'updateCourierSettings'>;
type Action = (ctx: UserContext, secrets: Secrets, courierId: string) => Promise<Updated>;

// Pages of any origin may embed a logo. It is cached forever, because another logo has another path. Nothing
// in it may execute.
const LOGO_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
};

const ACTIONS = {
  regenerate_key: regenerate,
  rotate_webhook_secret: rotate,
} satisfies Record<components['schemas']['CourierSettingsAction'], Action>;

export function courierHandlers(deps: Deps) {
  const { secrets, outbound, drawLogo } = deps;
  const readLogo = makeLogoReader();
  return {
    async getCourierSettings({ ctx, query }) {
      const settings = await readSettings(ctx, secrets, targetCourierId(ctx.caller, query.id, 'id'));
      return reply(`Settings of ${settings.courier_name}.`, viewSettings(settings, ctx.caller));
    },

    async updateCourierSettings(request): Promise<Updated> {
      const { ctx, query } = request;
      const courierId = targetCourierId(ctx.caller, query.id, 'id');
      assertTokenMaySend(ctx.caller, request.body);
      const run = (action: keyof typeof ACTIONS) => ACTIONS[action](ctx, secrets, courierId);
      if (request.mediaType === 'application/json') {
        const { action, current_password, ...fields } = request.body;
        const sent = pickFields(fields);
        if (!action) {
          const save = (settle?: Settle) => update(ctx, { courierId, sent }, fields, settle);
          if (!isPerson(ctx)) return save();
          return confirming({ ...request, ctx, deps }).confirmedIfSent({ current_password }, save);
        }
        assertNoFields(sent);
        return run(action);
      }
      if (request.mediaType === 'application/x-www-form-urlencoded') return run(request.body.action);
      const { action, logo } = request.body;
      if (action && logo) throw invalidFieldError('action', 'conflict', { other: 'logo' });
      if (logo) {
        const path = await storeLogo(ctx, courierId, { file: logo, drawLogo });
        return reply('Logo stored.', { path });
      }
      if (!action) throw invalidFieldError('logo', 'required');
      return run(action);
    },

    regenerateApiKey: ({ ctx, body }) =>
      regenerate(ctx, secrets, targetCourierId(ctx.caller, body.courier_id)),

    rotateWebhookSecret: ({ ctx, body }) =>
      rotate(ctx, secrets, targetCourierId(ctx.caller, body.courier_id)),

    async endPreviousWebhookSecret({ ctx, body }) {
      const isEnded = await endPreviousSecret(ctx, secrets, {
        courierId: targetCourierId(ctx.caller, body.courier_id),
        meantId: body.webhook_previous_secret_id,
      });
      const message = outcomeOf(
        isEnded,
        'The previous secret no longer signs.',
        'There is no previous secret.',
      );
      return { statusCode: 200, message };
    },

    async uploadLogo({ ctx, body }) {
      const courierId = targetCourierId(ctx.caller, body.courier_id);
      const path = await storeLogo(ctx, courierId, { file: body.logo, drawLogo });
      return reply('Logo stored.', { path });
    },

    async deleteLogo({ ctx, body }) {
      const isDeleted = await deleteLogo(ctx, targetCourierId(ctx.caller, body.courier_id));
      return { statusCode: 200, message: outcomeOf(isDeleted, 'Logo deleted.', 'There is no logo.') };
    },

    async getCourierLogo({ ctx, path }) {
      const { mediaType, content, contentHash } = await readLogo(ctx, path);
      return {
        statusCode: 200,
        file: { mediaType, content, headers: { ...LOGO_HEADERS, etag: `"${contentHash}"` } },
      };
    },
  } satisfies Partial<Handlers>;

  async function update(
    ctx: UserContext,
    sent: SettingsUpdate,
    body: object,
    settle?: Settle,
  ): Promise<Updated> {
    const { settings, isChanged } = await updateSettings(ctx, { secrets, outbound }, sent, settle);
    const already = nothingToChange('updateCourierSettings', body, {
      selectors: [],
      already: 'The settings already have these values.',
    });
    const message = outcomeOf(isChanged, 'Settings saved.', already);
    return reply(message, viewSettings(settings, ctx.caller));
  }
}

const isPerson = (ctx: UserContext): ctx is PersonContext => ctx.caller.kind === 'user';

/** What a service token may send to change settings. */
const FIELDS_OF_TOKENS = new Set([
  'api_url_add_package',
  'api_url_update_package',
  'add_package_format',
  'update_package_format',
  'add_package_events',
  'update_package_events',
]);

/** @throws ApiError token_not_accepted if a service token sends anything but webhook URLs, or the rotation of their secret */
function assertTokenMaySend(caller: UserCaller, body: object): void {
  if (caller.kind !== 'token') return;
  const isAllowed = Object.entries(body).every(
    ([name, value]) => FIELDS_OF_TOKENS.has(name) || (name === 'action' && value === 'rotate_webhook_secret'),
  );
  if (!isAllowed) throw new ApiError('token_not_accepted', { variant: 'settings' });
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
  return reply('New API key created. The previous key no longer works.', { api_key });
}

async function rotate(
  ctx: UserContext,
  secrets: Secrets,
  courierId: string,
): Promise<ReplyOf<'rotateWebhookSecret'>> {
  const { secret: webhook_secret, previousId } = await rotateWebhookSecret(ctx, secrets, courierId);
  const message = 'New secret created. The previous secret also signs for 24 hours.';
  return reply(message, { webhook_secret, webhook_previous_secret_id: previousId });
}

type SettingsView = Extract<DataOf<'getCourierSettings'>, { courier_id: string }>;

/** A service token reads no other credential of the courier than the secret that it may rotate. */
function viewSettings(
  { logoHash, logoMediaType, endpoints, now: _, ...stored }: Settings,
  caller: UserCaller,
): SettingsView {
  const settings = caller.kind === 'token' ? { ...stored, apiKey: null, api_token: null } : stored;
  const hasLogo = logoHash !== null && logoMediaType !== null;
  return {
    ...recordOf(settings, ['airFreightRate']),
    webhooks: {
      add_package: viewHealth(settings.api_url_add_package, endpoints?.add_package),
      update_package: viewHealth(settings.api_url_update_package, endpoints?.update_package),
    },
    logo_path: hasLogo ? pathOf(settings.courier_id, logoHash, logoMediaType) : null,
  };
}

type Health = SettingsView['webhooks']['add_package'];

const UNTRIED = {
  failing_since: null,
  paused_at: null,
  last_success_at: null,
  last_failure_at: null,
  failures: 0,
};

const viewHealth = (url: string | null, health: Omit<Health, 'state'> = UNTRIED): Health => ({
  state: url === null ? 'none' : health.paused_at ? 'paused' : health.failing_since ? 'failing' : 'active',
  ...health,
});
