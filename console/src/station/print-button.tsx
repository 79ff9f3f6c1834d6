import { useState } from 'preact/hooks';
import { messageOf } from '../session/session.js';
import { t } from '../texts/texts.js';
import { show } from '../ui/outcome.js';
import { single } from '../device/single.js';
import { printOrQueue } from './labels.js';

type Props = { packageId: string; text: string; isPrimary?: boolean };

/** Prints a label once per double click, and says so beside the button. */
export function PrintButton({ packageId, text, isPrimary = false }: Props) {
  const [sentTo, setSentTo] = useState<'queue' | 'browser'>();
  const print = async () => {
    setSentTo(undefined);
    try {
      setSentTo(await printOrQueue(packageId));
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
        {sentTo && t(sentTo === 'queue' ? 'label.sent' : 'label.browser')}
      </span>
    </>
  );
}
