import { useState } from 'preact/hooks';
import { ApiError } from '../../../../sdk/typescript/src/index.js';
import { FormDialog } from '../../office/ui/dialogs.js';
import { toast } from '../../office/ui/toasts.js';
import { api, messageOf } from '../../session/session.js';
import type { Customer } from '../../staff/customer-search.js';
import { t } from '../../texts/texts.js';
import { useScans } from '../../ui/keys.js';
import { useAction } from '../../ui/load.js';
import { Field, Problem } from '../../ui/parts.js';
import { DocumentField } from '../../owners/claim-documents.js';
import { CustomerChoice } from '../ui/customer-choice.js';

type Props = { onClose: () => void; onDone: () => void };

/** Claims a parcel by its whole number. The answer says nothing about the parcel, so the dialog says what happens next. */
export function ClaimDialog({ onClose, onDone }: Props) {
  const [trackingNumber, setTrackingNumber] = useState('');
  const [customer, setCustomer] = useState<Customer>();
  const [file, setFile] = useState<File>();
  useScans(({ text }) => setTrackingNumber(text));
  const claim = useAction(async () => {
    if (!customer) throw new Error(t('announce.chooseCustomer'));
    const claimed = await store(trackingNumber.trim(), customer.user_code);
    if (file) await addTo(claimed, file);
    toast(t('myClaim.stored', { number: trackingNumber.trim() }));
    onDone();
  });
  return (
    <FormDialog title={t('myClaim.new')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          claim.run();
        }}
      >
        <Field
          label={t('myClaim.number')}
          hint={t('myClaim.numberHint')}
          value={trackingNumber}
          onValue={setTrackingNumber}
          maxLength={255}
          required
        />
        <CustomerChoice label={t('common.customer')} customer={customer} onChoose={setCustomer} />
        <DocumentField isBusy={claim.isBusy} onFile={setFile} />
        <section class="stack">
          <h3>{t('myClaim.next')}</h3>
          <ol class="next-steps">
            <li>{t('myClaim.next1')}</li>
            <li>{t('myClaim.next2')}</li>
            <li>{t('myClaim.next3')}</li>
          </ol>
        </section>
        <Problem text={claim.error} />
        <div class="actions">
          <button
            type="submit"
            class="primary"
            disabled={!customer || trackingNumber.trim() === '' || claim.isBusy}
          >
            {t('myClaim.send')}
          </button>
          <button type="button" onClick={onClose}>
            {t('common.cancel')}
          </button>
        </div>
      </form>
    </FormDialog>
  );
}

/** Returns the claim's identifier. */
async function store(tracking_number: string, user_code: string): Promise<string> {
  try {
    return (await api().claims.claimParcel({ tracking_number, user_code })).data.claim_id;
  } catch (error) {
    const isLimit = error instanceof ApiError && error.code === 'quota_exceeded';
    throw new Error(isLimit ? t('myClaim.limit') : messageOf(error), { cause: error });
  }
}

/** The claim is stored already. Sending it again changes nothing but its customer. */
async function addTo(claim_id: string, document: File): Promise<void> {
  try {
    await api().claims.addDocument({ claim_id, document });
  } catch (error) {
    throw new Error(t('proof.notAdded', { reason: messageOf(error) }), { cause: error });
  }
}
