import type { components } from '../../../generated/contract.js';
import type { Handlers } from '../../../generated/handlers.js';
import { hasPermission } from '../../platform/access/permissions.js';
import { pageReply } from '../../platform/contract/page-reply.js';
import { recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import { nothingToChange } from '../../platform/contract/sent-names.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import type { Deps } from '../dependencies.js';
import { maskAddress } from './address.js';
import { listNotices } from './list-notices.js';
import type { NoticeRow } from './list-queries.js';
import { changeSettings, readSettings, type Settings } from './settings.js';
import { MAILS_OF_COURIER } from './telling/quota.js';

type Schemas = components['schemas'];

export function noticeHandlers({ publicUrl }: Pick<Deps, 'publicUrl'>) {
  const isAvailable = publicUrl !== undefined;
  return {
    async getNoticeSettings({ ctx, query }) {
      const settings = await readSettings(ctx, query.courier_id);
      const state = settings.isEnabled ? 'on' : 'off';
      return reply(`Notices are switched ${state}.`, viewSettings(settings, isAvailable));
    },

    async updateNoticeSettings({ ctx, body }) {
      const { settings, isChanged } = await changeSettings(ctx, body, isAvailable);
      const already = nothingToChange('updateNoticeSettings', body, {
        selectors: ['courier_id'],
        already: 'The settings already have these values.',
      });
      return reply(outcomeOf(isChanged, 'Settings changed.', already), viewSettings(settings, isAvailable));
    },

    async listNotices({ ctx, query }) {
      const { rows, total } = await listNotices(ctx, query);
      return pageReply(
        query,
        total,
        'notice',
        rows.map((row) => viewNotice(row, ctx.caller)),
      );
    },
  } satisfies Partial<Handlers>;
}

const viewSettings = (
  { quietFrom, quietTo, mailsToday, failedMails, ...settings }: Settings,
  isAvailable: boolean,
): Schemas['NoticeSettings'] => ({
  ...recordOf(settings),
  is_available: isAvailable,
  quiet_hours: quietFrom === null || quietTo === null ? null : { from: quietFrom, to: quietTo },
  mails_left_today: Math.max(0, MAILS_OF_COURIER - mailsToday),
  failed_mails: failedMails,
});

/** Only who may change customers sees their addresses. What a mail service says may contain the address. */
function viewNotice({ id, address, reason, ...row }: NoticeRow, { role }: UserCaller): Schemas['Notice'] {
  const isShown = address === null || hasPermission(role, 'customer:edit');
  return {
    notice_id: id,
    ...recordOf(row),
    address: isShown ? address : maskAddress(address),
    reason: isShown ? reason : (reason?.replaceAll(address, maskAddress(address)) ?? null),
  };
}
