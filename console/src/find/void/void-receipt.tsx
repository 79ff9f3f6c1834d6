import { useState } from 'preact/hooks';
import { t } from '../../texts/texts.js';
import { part } from '../../ui/part.js';
import type { Voidable } from './voidable.js';

const Dialog = part(async () => (await import('./void-dialog.js')).VoidDialog, { isOnUse: true });

/** Whether the page offers it. The service knows the rest: a bill, a load, or the age of the receipt. */
const canBeVoided = ({ status, manifest_number }: Voidable): boolean =>
  manifest_number === null && (status === 'received' || status === 'on_hold');

type Props = {
  parcel: Voidable;
  onDone: () => void;
  /** Hears whether the dialog is open. */ onOpen?: (isOpen: boolean) => void;
};

/** A button that takes back the receipt of a parcel that was received by mistake. Nothing where it is not possible. */
export function VoidReceipt({ parcel, onDone, onOpen }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const show = (isShown: boolean) => {
    setIsOpen(isShown);
    onOpen?.(isShown);
  };
  if (!canBeVoided(parcel)) return null;
  return (
    <>
      <button type="button" class="danger" onClick={() => show(true)}>
        {t('void.open')}
      </button>
      {isOpen && (
        <Dialog
          parcel={parcel}
          onClose={() => show(false)}
          onDone={() => {
            show(false);
            onDone();
          }}
        />
      )}
    </>
  );
}
