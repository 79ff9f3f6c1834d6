import { useState } from 'preact/hooks';
import type { Prealert, ScannedPackage } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { CustomerSearch, type Customer } from '../staff/customer-search.js';
import { t } from '../texts/texts.js';
import { useAction, useLoad } from '../ui/load.js';
import { Content, Dialog, Field, Problem } from '../ui/parts.js';
import { ChosenCustomer } from './owner-dialog.js';

type Props = {
  prealert: Prealert;
  /** Whether no other claim of its parcel is left. */
  isLast: boolean;
  onClose: () => void;
  /** With a sentence that says what was done. */
  onDone: (said: string) => void;
};

/** Who owns the parcel, as the person has decided. `nobody`: it stays in the list of parcels without an owner. */
type Decision = 'unsaid' | 'claimant' | 'other' | 'nobody';

/** Clears the flag of a claim. The last claim of a parcel without an owner asks for the owner. */
export function ReviewDialog({ prealert, isLast, onClose, onDone }: Props) {
  const parcel = useLoad((signal) => findParcel(prealert, signal), []);
  return (
    <Dialog title={`${prealert.user_code} · ${prealert.tracking_number}`} onClose={onClose}>
      <Content of={parcel}>
        {(found) => <ReviewForm prealert={prealert} parcel={found} isLast={isLast} onDone={onDone} />}
      </Content>
    </Dialog>
  );
}

/** The package of the claim, if it is received and the only one. */
async function findParcel(
  { tracking_number }: Prealert,
  signal: AbortSignal,
): Promise<ScannedPackage | undefined> {
  const { data } = await api().packages.resolveScan({ scan: tracking_number }, { signal });
  const [found, other] = data.matches.packages;
  return other ? undefined : found;
}

type FormProps = Pick<Props, 'prealert' | 'isLast' | 'onDone'> & { parcel: ScannedPackage | undefined };

function ReviewForm({ prealert, parcel, isLast, onDone }: FormProps) {
  const [reason, setReason] = useState('');
  const [decision, setDecision] = useState<Decision>('unsaid');
  const [customer, setCustomer] = useState<Customer>();
  const mustSay = isLast && parcel !== undefined && parcel.user_code === null;
  const review = useAction(async () => {
    if (mustSay && decision === 'unsaid') throw new Error(t('flagged.sayOwner'));
    if (decision === 'other' && !customer) throw new Error(t('announce.chooseCustomer'));
    // First, so that the parcel is never without a flag and without an owner.
    if (decision === 'other' && customer && parcel)
      await api().packages.update({ package_id: parcel.package_id, user_code: customer.user_code });
    const { data } = await api().prealerts.review({
      prealert_id: prealert.prealert_id,
      reason: reason.trim(),
      ...(decision === 'claimant' ? { assign: true } : {}),
    });
    const owner = decision === 'other' ? customer?.user_code : data.assigned ? prealert.user_code : undefined;
    onDone(saidOf(prealert, mustSay, owner));
  });
  const choices: Decision[] = mustSay ? ['claimant', 'other', 'nobody'] : ['claimant', 'unsaid'];
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        review.run();
      }}
    >
      <p>{t('flagged.reviewHint')}</p>
      {parcel?.user_code && <p>{t('flagged.owned', { customer: parcel.user_code })}</p>}
      <Field label={t('flagged.reason')} value={reason} required maxLength={500} onValue={setReason} />
      <fieldset class="stack">
        <legend>{t(mustSay ? 'flagged.lastClaim' : 'flagged.whose')}</legend>
        {choices.map((choice) => (
          <label key={choice} class="check">
            <input
              type="radio"
              name="decision"
              checked={decision === choice}
              onChange={() => setDecision(choice)}
            />
            {t(`ownerIs.${choice}`)}
          </label>
        ))}
      </fieldset>
      {decision === 'other' &&
        (customer ? (
          <ChosenCustomer of={customer} onOther={() => setCustomer(undefined)} />
        ) : (
          <CustomerSearch label={t('receive.customer')} onChoose={setCustomer} />
        ))}
      <Problem text={review.error} />
      <div class="actions">
        <button type="submit" class="primary" disabled={review.isBusy}>
          {t('flagged.clear')}
        </button>
      </div>
    </form>
  );
}

function saidOf({ tracking_number: parcel }: Prealert, mustSay: boolean, owner: string | undefined): string {
  if (owner) return t('owner.given', { package: parcel, customer: owner });
  return t(mustSay ? 'flagged.stillOwnerless' : 'flagged.cleared', { parcel });
}
