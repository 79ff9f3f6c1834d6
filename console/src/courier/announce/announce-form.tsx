import { useState } from 'preact/hooks';
import { api } from '../../session/session.js';
import type { Customer } from '../../staff/customer-search.js';
import { t } from '../../texts/texts.js';
import { useScans } from '../../ui/keys.js';
import { useAction } from '../../ui/load.js';
import { Field, Problem } from '../../ui/parts.js';
import { CustomerChoice } from '../ui/customer-choice.js';

/** Announces one parcel. Customer and vendor stay for the next. */
export function AnnounceForm({ onDone }: { onDone: () => void }) {
  const [trackingNumber, setTrackingNumber] = useState('');
  const [vendor, setVendor] = useState('');
  const [description, setDescription] = useState('');
  const [customer, setCustomer] = useState<Customer>();
  const [announced, setAnnounced] = useState<string>();
  useScans(({ text }) => setTrackingNumber(text));
  const send = useAction(async () => {
    if (!customer) throw new Error(t('announce.chooseCustomer'));
    setAnnounced(undefined);
    await api().prealerts.create({
      tracking_number: trackingNumber.trim(),
      user_code: customer.user_code,
      vendor: vendor.trim(),
      ...(description.trim() ? { description: description.trim() } : {}),
    });
    setAnnounced(trackingNumber.trim());
    setTrackingNumber('');
    setDescription('');
    onDone();
  });
  return (
    <form
      class="card stack"
      onSubmit={(event) => {
        event.preventDefault();
        send.run();
      }}
    >
      <Field
        label={t('common.number')}
        hint={t('announce.numberHint')}
        value={trackingNumber}
        required
        maxLength={255}
        onValue={setTrackingNumber}
      />
      <CustomerChoice label={t('common.customer')} customer={customer} onChoose={setCustomer} />
      <div class="pair">
        <Field label={t('common.vendor')} value={vendor} required maxLength={255} onValue={setVendor} />
        <Field
          label={t('announce.description')}
          value={description}
          maxLength={2000}
          onValue={setDescription}
        />
      </div>
      <Problem text={send.error} />
      {announced && (
        <p class="success" role="status">
          {t('announce.done', { number: announced })}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="primary" disabled={send.isBusy}>
          {t('announce.send')}
        </button>
      </div>
    </form>
  );
}
