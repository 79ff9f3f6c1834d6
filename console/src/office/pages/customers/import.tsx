import { useState } from 'preact/hooks';
import type { CourierRecord, CustomerImport } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { number, t } from '../../../texts/texts.js';
import { Choice, Problem } from '../../../ui/parts.js';
import { courierChoices } from '../../list/courier-options.js';
import { FormDialog } from '../../ui/dialogs.js';
import { FactList } from '../../ui/panel.js';
import { toast } from '../../ui/toasts.js';
import { ErrorCells, FileField, sheetFacts, useCheckedFile, Warnings } from '../import-parts.js';

type Props = {
  /** Of whom the person chooses one. Without them, `courierId` is known. */
  couriers?: CourierRecord[];
  courierId?: string;
  onClose: () => void;
  onDone: () => void;
};

/** Imports customers from a CSV file or a workbook. The service checks the file first and stores nothing; then a person confirms the counts. */
export function ImportDialog({ couriers, courierId: known = '', onClose, onDone }: Props) {
  const [courierId, setCourierId] = useState(known);
  const [file, setFile] = useState<File>();
  const check = useCheckedFile<CustomerImport>(
    async (isDryRun) => {
      if (!file) throw new Error(t('import.chooseFile'));
      return api().customers.upload({ file, target_courier_id: courierId, dry_run: isDryRun });
    },
    (data) => {
      toast(t('import.done', { created: data.created, updated: data.updated }));
      onDone();
    },
  );
  const { result } = check;
  return (
    <FormDialog title={t('customers.import')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          check.submit();
        }}
      >
        <p>{t('import.hint')}</p>
        {couriers && (
          <Choice
            label={t('common.courier')}
            value={courierId}
            onValue={(value) => {
              setCourierId(value);
              check.forget();
            }}
            options={courierChoices(couriers)}
          />
        )}
        <FileField
          onFile={(chosen) => {
            setFile(chosen);
            check.forget();
          }}
        />
        <Problem text={check.error} />
        {result && <Result of={result} />}
        {check.errors && <ErrorCells errors={check.errors} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={!file || courierId === '' || check.isBusy}>
            {result ? t('import.store', { count: result.created + result.updated }) : t('import.check')}
          </button>
        </div>
      </form>
    </FormDialog>
  );
}

const Result = ({ of }: { of: CustomerImport }) => (
  <div class="success" role="status" data-testid="import-result">
    <p>{t('import.checked')}</p>
    <FactList
      facts={[
        ...sheetFacts(of.file),
        [t('import.created'), number(of.created)],
        [t('import.updated'), number(of.updated)],
        [t('import.unchanged'), number(of.unchanged)],
        [t('import.repeated'), number(of.repeated)],
        [t('import.skipped'), number(of.skipped)],
      ]}
    />
    <Warnings of={of.warnings} />
  </div>
);
