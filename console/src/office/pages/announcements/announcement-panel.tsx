import { useState } from 'preact/hooks';
import type { Prealert } from '../../../../../sdk/typescript/src/index.js';
import { ReviewDialog } from '../../../owners/review-dialog.js';
import { api } from '../../../session/session.js';
import { dateTime, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { ConfirmDialog } from '../../ui/dialogs.js';
import { FactList, Panel } from '../../ui/panel.js';
import { toast } from '../../ui/toasts.js';
import { EditAnnouncement } from './edit.js';
import { AnnouncementTag } from './tag.js';

type Props = {
  number: string;
  /** Each courier announces a number once, but several couriers may. */
  courierId: string | undefined;
  closeLink: string;
  onChanged: () => void;
};

const MOST = 100;

/** An announcement beside the list. Its address is its tracking number. */
export function AnnouncementPanel({ number, courierId, closeLink, onChanged }: Props) {
  const found = useLoad(
    async (signal) => {
      const { data } = await api().prealerts.list({ search: number.slice(0, 100), limit: MOST }, { signal });
      return data.filter(({ tracking_number }) => tracking_number === number);
    },
    [number],
  );
  const changed = () => {
    found.reload();
    onChanged();
  };
  return (
    <Panel title={number} closeLink={closeLink}>
      <Content of={found}>
        {(all) => {
          const [first, ...others] = all.filter(({ courier_id }) => (courierId ?? courier_id) === courier_id);
          if (!first)
            return (
              <Empty title={t('announcements.unknown', { number })}>{t('announcements.unknownHint')}</Empty>
            );
          return others.length > 0 ? (
            <div class="stack">
              <p>{t('announcements.several')}</p>
              <Claims of={all} />
            </div>
          ) : (
            <Details announcement={first} all={all} closeLink={closeLink} onChanged={changed} />
          );
        }}
      </Content>
    </Panel>
  );
}

/** Announcements of one number, each with a link to it. */
const Claims = ({ of }: { of: Prealert[] }) => (
  <ul class="stack">
    {of.map(({ courier_id, courier_name, tracking_number, user_code, status }) => (
      <li key={courier_id}>
        <a href={officeLink(['announcements', tracking_number], { of: courier_id })}>
          {courier_name}: {user_code}
        </a>{' '}
        <AnnouncementTag status={status} />
      </li>
    ))}
  </ul>
);

type DetailsProps = { announcement: Prealert; all: Prealert[]; closeLink: string; onChanged: () => void };

function Details({ announcement, all, closeLink, onChanged }: DetailsProps) {
  const [opened, setOpened] = useState<'edit' | 'delete' | 'review'>();
  const { prealert_id, tracking_number, user_code, courier_id, courier_name, status } = announcement;
  const others = all.filter((each) => each.prealert_id !== prealert_id);
  const isFlagged = status === 'flagged';
  const close = () => setOpened(undefined);
  return (
    <div class="stack">
      <FactList
        facts={[
          [t('common.status'), <AnnouncementTag key="status" status={status} />],
          [t('common.courier'), courier_name],
          [
            t('common.customer'),
            <a key="customer" href={officeLink(['customers', user_code], { of: courier_id })}>
              {[user_code, announcement.first_name, announcement.last_name].filter(Boolean).join(' ')}
            </a>,
          ],
          [t('common.vendor'), announcement.vendor],
          [t('announce.description'), announcement.description],
          [t('statement.reference'), announcement.reference],
          [t('announce.at'), dateTime(announcement.created_at)],
        ]}
      />
      {isFlagged && <p class="notice">{t('announcements.flaggedHint')}</p>}
      {others.length > 0 && (
        <>
          <h3>{t('announcements.others')}</h3>
          <Claims of={others} />
        </>
      )}
      <div class="actions">
        {isFlagged && (
          <button type="button" class="primary" onClick={() => setOpened('review')}>
            {t('flagged.review')}
          </button>
        )}
        <button type="button" class={isFlagged ? undefined : 'primary'} onClick={() => setOpened('edit')}>
          {t('office.edit')}
        </button>
        <a class="button" href={officeLink('parcels', { search: tracking_number })}>
          {t('announcements.find')}
        </a>
        <button type="button" class="danger" onClick={() => setOpened('delete')}>
          {t('announcements.takeBack')}
        </button>
      </div>
      {opened === 'edit' && (
        <EditAnnouncement
          announcement={announcement}
          onClose={close}
          onDone={(shown) => {
            close();
            const query = officeAddress.value?.query ?? {};
            // Its address is its number.
            if (shown !== tracking_number)
              openAddress(officeLink(['announcements', shown], query), { isSame: true });
            onChanged();
          }}
        />
      )}
      {opened === 'review' && (
        <ReviewDialog
          prealert={announcement}
          isLast={others.every((each) => each.status !== 'flagged')}
          onClose={close}
          onDone={(said) => {
            close();
            toast(said);
            onChanged();
          }}
        />
      )}
      {opened === 'delete' && (
        <ConfirmDialog
          title={t('announcements.takeBackTitle', { number: tracking_number })}
          effect={`${t('announcements.takeBackEffect', { courier: courier_name, customer: user_code })} ${
            isFlagged ? t('announcements.staysFlagged', { courier: courier_name }) : ''
          }`}
          action={t('announcements.takeBack')}
          onClose={close}
          run={async () => {
            await api().prealerts.delete({ prealert_id });
            toast(t('announcements.takenBack', { number: tracking_number }));
            openAddress(closeLink);
            onChanged();
          }}
        />
      )}
    </div>
  );
}
