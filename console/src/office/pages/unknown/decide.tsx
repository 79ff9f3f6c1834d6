import type { UnknownParcel } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { GuessWarning } from './guess-warning.js';
import { textOfClaimant, type Named } from './names.js';

type Shared = {
  onClose: () => void;
  /** With a sentence that says what was done. */ onDone: (said: string) => void;
};

type AssignProps = Shared & { parcel: UnknownParcel; winner: Named; others: Named[] };

/** Gives a parcel to one claimant. It names who gets it, and what happens to each of the others. */
export function AssignDialog({ parcel, winner, others, onClose, onDone }: AssignProps) {
  const { package_id, house_number } = parcel;
  const form = useForm({ reason: '' }, async ({ reason }) => {
    const decision = { reason: reason.trim(), package_id };
    const { claim_id, prealert_id } = winner;
    if (claim_id) await api().claims.reviewParcel({ action: 'approve', claim_id, ...decision });
    else if (prealert_id) await api().claims.reviewParcel({ action: 'resolve', prealert_id, ...decision });
    onDone(t('owner.given', { package: house_number, customer: winner.user_code }));
  });
  return (
    <FormDialog title={t('unknown.giveTitle', { number: house_number })} onClose={onClose}>
      <div class="stack">
        <p>
          {t('unknown.gets')} <strong>{textOfClaimant(winner)}</strong>
        </p>
        <GuessWarning claimant={winner} />
        {others.length > 0 && (
          <>
            <p>{t('unknown.others')}</p>
            <ul class="stack" data-testid="others">
              {others.map((other) => (
                <li key={other.claim_id ?? other.prealert_id}>
                  <strong>{textOfClaimant(other)}</strong>:{' '}
                  {t(other.claim_id ? 'unknown.claimRefused' : 'unknown.announcementClosed')}
                </li>
              ))}
            </ul>
          </>
        )}
        <p>{t('unknown.effect')}</p>
        <Form of={form} submit={t('unknown.giveTo', { code: winner.user_code })}>
          <Text
            of={form}
            name="reason"
            label={t('flagged.reason')}
            hint={t('unknown.reasonHidden')}
            maxLength={500}
            isRequired
          />
        </Form>
      </div>
    </FormDialog>
  );
}

type RefuseProps = Shared & { claimId: string; claimant: string; number: string };

/** Refuses one claim. Its courier reads the reason. */
export function RefuseDialog({ claimId, claimant, number, onClose, onDone }: RefuseProps) {
  const form = useForm({ reason: '' }, async ({ reason }) => {
    await api().claims.reviewParcel({ action: 'refuse', claim_id: claimId, reason: reason.trim() });
    onDone(t('unknown.refused'));
  });
  return (
    <FormDialog title={t('unknown.refuseTitle')} onClose={onClose}>
      <div class="stack">
        <p>
          <strong>{claimant}</strong> · <span class="mono break">{number}</span>
        </p>
        <p>{t('unknown.refuseEffect')}</p>
        <Form of={form} submit={t('unknown.refuseTitle')}>
          <Text
            of={form}
            name="reason"
            label={t('flagged.reason')}
            hint={t('unknown.reasonRead')}
            maxLength={500}
            isRequired
          />
        </Form>
      </div>
    </FormDialog>
  );
}
