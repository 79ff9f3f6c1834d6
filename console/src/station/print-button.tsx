import { useState } from 'preact/hooks';
import { messageOf } from '../session/session.js';
import { t } from '../texts/texts.js';
import { show } from '../ui/outcome.js';
import { single } from '../device/single.js';
import { printOrQueue } from './labels.js';

type Props = { packageId: string; text: string; isPrimary?: boolean };

/** Prints a label once per double click, and says so beside the button. */
export function PrintButton({ packageId, text, isPrimary = false }: Props) {
  const [isSent, setIsSent] = useState(false);
  const print = async () => {
    setIsSent(false);
    try {
      await printOrQueue(packageId);
      setIsSent(true);
    } catch (error) {
      show('warn', t('word.noLabel'), messageOf(error));
    }
  };
  return (
    <>
      <button type="button" class={isPrimary ? 'primary' : undefined} onClick={single(() => void print())}>
        {text}
      </button>
      <span role="status" class="muted">
        {isSent && t('label.sent')}
      </span>
    </>
  );
}
