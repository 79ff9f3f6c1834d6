import { useState } from 'preact/hooks';
import { t } from '../texts/texts.js';
import { Field } from '../ui/parts.js';

/** For a barcode that cannot be scanned. */
export function NumberField({ onNumber }: { onNumber: (text: string) => void }) {
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
      label={t('receive.number')}
      hint={t('receive.numberHint')}
      value={text}
      onValue={setText}
      onKeyDown={submit}
    />
  );
}
