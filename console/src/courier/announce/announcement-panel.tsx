import { useState } from 'preact/hooks';
import type { Prealert } from '../../../../sdk/typescript/src/index.js';
import { ConfirmDialog, FormDialog } from '../../office/ui/dialogs.js';
import { Form, Text, useForm } from '../../office/ui/form.js';
import { FactList, Panel } from '../../office/ui/panel.js';
import { toast } from '../../office/ui/toasts.js';
import { api } from '../../session/session.js';
import { dateTime, t } from '../../texts/texts.js';
import { Code } from '../../ui/code.js';
import { Empty } from '../../ui/parts.js';
import { linkTo, openAddress } from '../../ui/router.js';
import { CarrierDialog, Heard } from './heard.js';
import { AnnouncementTag } from '../../office/pages/announcements/tag.js';

type PanelProps = {
  /** Undefined if it is not on this page of the list: no operation returns one. */
  prealert: Prealert | undefined;
  closeLink: string;
  onChanged: () => void;
};

/** An announced parcel beside the list. */
export const AnnouncementPanel = ({ prealert, closeLink, onChanged }: PanelProps) => (
  <Panel title={prealert?.tracking_number ?? t('announce.list')} closeLink={closeLink}>
    {prealert ? (
      <Details key={JSON.stringify(prealert)} {...{ prealert, closeLink, onChanged }} />
    ) : (
      <Empty title={t('myAnnounce.elsewhere')}>{t('myAnnounce.elsewhereHint')}</Empty>
    )}
  </Panel>
);

type Props = { prealert: Prealert; closeLink: string; onChanged: () => void };

function Details({ prealert, closeLink, onChanged }: Props) {
  const [opened, setOpened] = useState<'edit' | 'delete' | 'carrier'>();
  const close = () => setOpened(undefined);
  const { prealert_id, tracking_number, user_code, first_name, last_name } = prealert;
  return (
    <div class="stack">
      <FactList
        facts={[
          [t('common.status'), <AnnouncementTag key="status" status={prealert.status} />],
          [t('common.number'), <Code key="number" text={tracking_number} />],
          [
            t('common.customer'),
            <a key="customer" href={linkTo('customers', user_code)}>
              {[user_code, first_name, last_name].filter(Boolean).join(' ')}
            </a>,
          ],
          [t('common.vendor'), prealert.vendor],
          [t('announce.description'), prealert.description],
          [t('statement.reference'), prealert.reference],
          [t('announce.at'), dateTime(prealert.created_at)],
          [t('heard.carrier'), <Heard key="heard" tracking={prealert.carrier_tracking} />],
        ]}
      />
      {prealert.status === 'received' && (
        <p>
          <a href={linkTo('parcels', undefined, { search: tracking_number })}>{t('myClaim.parcel')}</a>
        </p>
      )}
      {prealert.status === 'flagged' && <p class="notice">{t('myAnnounce.flagged')}</p>}
      <div class="actions">
        <button type="button" class="primary" onClick={() => setOpened('edit')}>
          {t('office.edit')}
        </button>
        <button type="button" onClick={() => setOpened('carrier')}>
          {t('heard.correct')}
        </button>
        <button type="button" class="danger" onClick={() => setOpened('delete')}>
          {t('myAnnounce.takeBack')}
        </button>
      </div>
      {opened === 'edit' && (
        <EditDialog
          prealert={prealert}
          onClose={close}
          onDone={() => {
            close();
            onChanged();
          }}
        />
      )}
      {opened === 'carrier' && (
        <CarrierDialog
          prealert={prealert}
          onClose={close}
          onDone={() => {
            close();
            onChanged();
          }}
        />
      )}
      {opened === 'delete' && (
        <ConfirmDialog
          title={t('myAnnounce.takeBackTitle', { number: tracking_number })}
          effect={t(
            prealert.status === 'flagged' ? 'myAnnounce.takeBackFlagged' : 'myAnnounce.takeBackEffect',
          )}
          action={t('myAnnounce.takeBack')}
          onClose={close}
          run={async () => {
            await api().prealerts.delete({ prealert_id });
            toast(t('myAnnounce.takenBack', { number: tracking_number }));
            openAddress(closeLink);
            onChanged();
          }}
        />
      )}
    </div>
  );
}

type EditProps = { prealert: Prealert; onClose: () => void; onDone: () => void };

/** Changes an announcement. The toast can undo it. */
function EditDialog({ prealert, onClose, onDone }: EditProps) {
  const { prealert_id, tracking_number, user_code, vendor, description } = prealert;
  const form = useForm(
    { tracking_number, user_code, vendor: vendor ?? '', description: description ?? '' },
    async (values) => {
      await api().prealerts.replace({
        prealert_id,
        tracking_number: values.tracking_number.trim(),
        user_code: values.user_code.trim(),
        vendor: values.vendor.trim() || null,
        description: values.description.trim() || null,
      });
      toast(t('office.saved', { name: values.tracking_number }), async () => {
        await api().prealerts.replace({ prealert_id, tracking_number, user_code, vendor, description });
        onDone();
      });
      onDone();
    },
    { fieldOf: { unknown_user_code: 'user_code', duplicate_tracking_number: 'tracking_number' } },
  );
  return (
    <FormDialog title={t('myAnnounce.edit')} onClose={onClose}>
      <Form of={form} submit={t('office.save')}>
        <Text of={form} name="tracking_number" label={t('common.number')} maxLength={255} isRequired />
        <Text of={form} name="user_code" label={t('customers.code')} maxLength={100} isRequired />
        <Text of={form} name="vendor" label={t('common.vendor')} maxLength={255} />
        <Text of={form} name="description" label={t('announce.description')} maxLength={2000} />
      </Form>
    </FormDialog>
  );
}
