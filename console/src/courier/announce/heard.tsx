import type { Prealert } from '../../../../sdk/typescript/src/index.js';
import { FormDialog } from '../../office/ui/dialogs.js';
import { Form, Text, useForm } from '../../office/ui/form.js';
import { toast } from '../../office/ui/toasts.js';
import { api } from '../../session/session.js';
import { dateTime, t, textOf } from '../../texts/texts.js';

/** What the carrier says about an announced parcel, with its own time. */
export function Heard({ tracking }: { tracking: Prealert['carrier_tracking'] }) {
  if (!tracking) return <>—</>;
  const { status, carrier, is_carrier_corrected, occurred_at, text, is_action_needed } = tracking;
  const name = [carrier, is_carrier_corrected && `(${t('heard.corrected')})`].filter(Boolean).join(' ');
  const said = [name, textOf('carrierStatus', status), occurred_at && dateTime(occurred_at)];
  return (
    <>
      {said.filter(Boolean).join(' · ')}
      {text && <p class="muted">{text}</p>}
      {is_action_needed && <p class="notice">{t('heard.actionNeeded')}</p>}
    </>
  );
}

type CarrierProps = { prealert: Prealert; onClose: () => void; onDone: () => void };

/** Corrects the carrier, or takes the correction back. */
export function CarrierDialog({ prealert, onClose, onDone }: CarrierProps) {
  const { prealert_id, carrier_tracking } = prealert;
  const form = useForm({ carrier: carrier_tracking?.carrier ?? '' }, async ({ carrier }) => {
    await api().prealerts.setCarrier({ prealert_id, carrier: carrier.trim() || null });
    toast(t('heard.saved'));
    onDone();
  });
  return (
    <FormDialog title={t('heard.correct')} onClose={onClose}>
      <Form of={form} submit={t('office.save')}>
        <Text of={form} name="carrier" label={t('heard.carrier')} hint={t('heard.hint')} maxLength={100} />
      </Form>
    </FormDialog>
  );
}
