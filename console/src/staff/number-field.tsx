import { useState } from 'preact/hooks';
import { t } from '../texts/texts.js';
import { Field } from '../ui/parts.js';

type Props = { onNumber: (text: string) => void; label?: string; hint?: string };

/** For a barcode that cannot be scanned. */
export function NumberField({ onNumber, label, hint }: Props) {
  const [text, setText] = useState('');
  const submit = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || text.trim() === '') return;
    event.preventDefault();
    setText('');
    onNumber(text.trim());
  };
  return (
    <Field
      keys="code"
      label={label ?? t('receive.number')}
      hint={hint ?? t('receive.numberHint')}
      value={text}
      onValue={setText}
      onKeyDown={submit}
    />
  );
}
