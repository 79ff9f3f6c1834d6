import { useState } from 'preact/hooks';
import { t } from '../../texts/texts.js';
import { part } from '../../ui/part.js';
import type { Voidable } from './voidable.js';

const Dialog = part(async () => (await import('./void-dialog.js')).VoidDialog, { isOnUse: true });

/** Whether the page offers it. The service knows the rest: a bill, a load, or the age of the receipt. */
const canBeVoided = ({ status, manifest_number }: Voidable): boolean =>
  manifest_number === null && (status === 'received' || status === 'on_hold');

type Props = { parcel: Voidable; onDone: () => void };

/** A button that takes back the receipt of a parcel that was received by mistake. Nothing where it is not possible. */
export function VoidReceipt({ parcel, onDone }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  if (!canBeVoided(parcel)) return null;
  return (
    <>
      <button type="button" class="danger" onClick={() => setIsOpen(true)}>
        {t('void.open')}
      </button>
      {isOpen && (
        <Dialog
          parcel={parcel}
          onClose={() => setIsOpen(false)}
          onDone={() => {
            setIsOpen(false);
            onDone();
          }}
        />
      )}
    </>
  );
}
