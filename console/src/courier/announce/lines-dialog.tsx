import { useId, useState } from 'preact/hooks';
import { FormDialog } from '../../office/ui/dialogs.js';
import type { Customer } from '../../staff/customer-search.js';
import { t } from '../../texts/texts.js';
import { CustomerChoice } from '../ui/customer-choice.js';
import { CheckButtons, CheckResult, useCheck } from './check.js';
import { csvOfLines } from './lines.js';

type Props = { onClose: () => void; onDone: () => void };

/** The header of the file is above the first line. */
const HEADER_ROWS = 1;

/** Announces the parcels of lines that a person pastes. */
export function LinesDialog({ onClose, onDone }: Props) {
  const id = useId();
  const [text, setText] = useState('');
  const [customer, setCustomer] = useState<Customer>();
  const check = useCheck(
    () => new File([csvOfLines(text, customer?.user_code)], 'lines.csv', { type: 'text/csv' }),
    onDone,
  );
  return (
    <FormDialog title={t('myAnnounce.lines')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          check.submit();
        }}
      >
        <div class="field">
          <label for={id}>{t('myAnnounce.linesLabel')}</label>
          <textarea
            id={id}
            class="mono dialog-first"
            rows={8}
            spellcheck={false}
            aria-describedby={`${id}-hint`}
            value={text}
            onInput={({ currentTarget }) => {
              setText(currentTarget.value);
              check.forget();
            }}
          />
          <span id={`${id}-hint`} class="field-hint">
            {t('myAnnounce.linesHint')}
          </span>
        </div>
        <CustomerChoice
          label={t('myAnnounce.linesCustomer')}
          customer={customer}
          onChoose={(chosen) => {
            setCustomer(chosen);
            check.forget();
          }}
        />
        <CheckResult of={check} offset={HEADER_ROWS} />
        <CheckButtons of={check} isReady={text.trim() !== ''} onClose={onClose} />
      </form>
    </FormDialog>
  );
}
