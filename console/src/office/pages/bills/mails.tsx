import { useState } from 'preact/hooks';
import type { BillDetail, BillMail } from '../../../../../sdk/typescript/src/index.js';
import { single } from '../../../device/single.js';
import { settings } from '../../../device/settings.js';
import { api } from '../../../session/session.js';
import { dateTime, t, textOf } from '../../../texts/texts.js';
import { useAction, useLoad } from '../../../ui/load.js';
import { Choice, Content, Dialog, Problem, Table, Tag } from '../../../ui/parts.js';
import { toast } from '../../ui/toasts.js';

const MAILS_SHOWN = 20;
/** By the status of a mail with a bill. */
export const MAIL_TINTS: Record<string, 'good' | 'plain' | 'warn' | 'bad'> = {
  queued: 'plain',
  sent: 'good',
  failed: 'bad',
  skipped: 'warn',
};

/** When a published bill was sent, to whom, by whom and with which result. */
export function Mails({ bill }: { bill: BillDetail }) {
  if (bill.status === 'draft') return null;
  return <MailLog bill={bill} />;
}

function MailLog({ bill }: { bill: BillDetail }) {
  const [isAsking, setIsAsking] = useState(false);
  const { bill_id } = bill;
  const mails = useLoad(
    async (signal) => (await api().billing.listBillMails({ bill_id, limit: MAILS_SHOWN }, { signal })).data,
    [bill_id],
  );
  return (
    <section class="stack" data-testid="mails">
      <div class="heading">
        <h2>{t('billMail.title')}</h2>
        <button type="button" onClick={() => setIsAsking(true)}>
          {t('billMail.send')}
        </button>
      </div>
      <Content of={mails}>
        {(rows) => (
          <>
            <MailTable rows={rows} />
            {isAsking && (
              <SendDialog
                bill={bill}
                last={rows.find(({ status }) => status === 'sent' || status === 'queued')}
                onClose={() => setIsAsking(false)}
                onSent={mails.reload}
              />
            )}
          </>
        )}
      </Content>
    </section>
  );
}

const MailTable = ({ rows }: { rows: BillMail[] }) =>
  rows.length === 0 ? (
    <p class="muted">{t('billMail.none')}</p>
  ) : (
    <Table
      caption={t('billMail.title')}
      rows={rows}
      keyOf={({ mail_id }) => mail_id}
      columns={[
        { title: t('billMail.when'), cell: ({ requested_at }) => dateTime(requested_at) },
        { title: t('billMail.to'), cell: ({ recipient }) => recipient },
        { title: t('billMail.by'), isExtra: true, cell: ({ requested_by }) => requested_by },
        {
          title: t('billMail.result'),
          cell: ({ status, error, settled_at }) => (
            <>
              <Tag tint={MAIL_TINTS[status] ?? 'plain'}>{textOf('billMailStatus', status)}</Tag>{' '}
              {error ?? (settled_at && dateTime(settled_at))}
            </>
          ),
        },
      ]}
    />
  );

type DialogProps = {
  bill: BillDetail;
  /** The latest mail that was sent or waits. */
  last: BillMail | undefined;
  onClose: () => void;
  onSent: () => void;
};

const LANGUAGES: [string, string][] = [
  ['en', 'English'],
  ['es', 'Español'],
];

/** Asks before a mail, and names the earlier one. */
function SendDialog({ bill, last, onClose, onSent }: DialogProps) {
  const { bill_id, invoice_number, courier_name } = bill;
  const [language, setLanguage] = useState<string>(last?.language ?? settings.value.language);
  const send = useAction(async () => {
    const { data } = await api().billing.sendBill({
      bill_id,
      // One of the choices below.
      language: language as 'en',
      ...(last ? { again: true } : {}),
    });
    toast(t('billMail.queued', { bill: invoice_number, recipient: data.recipient }));
    onSent();
    onClose();
  });
  return (
    <Dialog
      title={t('billMail.sendTitle', { bill: invoice_number, courier: courier_name })}
      onClose={onClose}
    >
      <div class="stack">
        {last && (
          <p>
            {t(last.status === 'sent' ? 'billMail.again' : 'billMail.waits', {
              at: dateTime(last.settled_at ?? last.requested_at),
              recipient: last.recipient,
            })}
          </p>
        )}
        <p>{t('billMail.effect', { courier: courier_name })}</p>
        <Choice label={t('settings.language')} value={language} onValue={setLanguage} options={LANGUAGES} />
        <Problem text={send.error} />
        <div class="actions">
          <button type="button" class="primary" disabled={send.isBusy} onClick={single(() => send.run())}>
            {t(last ? 'billMail.sendAgain' : 'billMail.send')}
          </button>
          <button type="button" class="dialog-first" onClick={onClose}>
            {t('common.cancel')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
