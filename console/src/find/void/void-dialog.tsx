import { useState } from 'preact/hooks';
import { api } from '../../session/session.js';
import { addTexts, t } from '../../texts/texts.js';
import { useAction } from '../../ui/load.js';
import { Dialog, Field, Problem } from '../../ui/parts.js';
import type { Voidable } from './voidable.js';
import { voidTexts } from './texts.js';

addTexts(voidTexts);

const MAX_REASON_CHARACTERS = 500;

type Props = { parcel: Voidable; onClose: () => void; onDone: () => void };

/** Asks why a receipt is void, and names what goes with it. */
export function VoidDialog({ parcel, onClose, onDone }: Props) {
  const [reason, setReason] = useState('');
  const [isMissing, setIsMissing] = useState(false);
  const voiding = useAction(async () => {
    setIsMissing(reason.trim() === '');
    if (reason.trim() === '') return;
    await api().packages.voidReceipt({ package_id: parcel.package_id, reason: reason.trim() });
    onDone();
  });
  return (
    <Dialog title={`${parcel.house_number} · ${parcel.tracking_number}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          voiding.run();
        }}
      >
        <p>{t('void.effect')}</p>
        <p>{t('void.instead')}</p>
        <p class="strong">{t('void.final')}</p>
        <Field
          label={t('void.reason')}
          value={reason}
          onValue={setReason}
          maxLength={MAX_REASON_CHARACTERS}
          error={isMissing ? t('void.reasonMissing') : undefined}
        />
        <Problem text={voiding.error} />
        <div class="actions">
          <button type="submit" class="danger" disabled={voiding.isBusy}>
            {t('void.action')}
          </button>
          <button type="button" onClick={onClose}>
            {t('common.cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
