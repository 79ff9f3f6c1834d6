import type { PrealertImport } from '../../../../sdk/typescript/src/index.js';
import { ErrorCells, sheetFacts, useCheckedFile, Warnings } from '../../office/pages/import-parts.js';
import { FactList } from '../../office/ui/panel.js';
import { toast } from '../../office/ui/toasts.js';
import { api } from '../../session/session.js';
import { number, t, textOf } from '../../texts/texts.js';
import { Problem } from '../../ui/parts.js';

/** Pre-alerts of a file, which is checked first. */
export const useCheck = (fileOf: () => File, onDone: () => void) =>
  useCheckedFile<PrealertImport>(
    async (isDryRun) => api().prealerts.upload({ file: fileOf(), dry_run: isDryRun }),
    ({ created }) => {
      toast(t('myAnnounce.stored', { count: created }));
      onDone();
    },
  );

type Check = ReturnType<typeof useCheck>;

type Props = {
  of: Check;
  /** So many rows of the file are above the first that the person sees. */
  offset?: number;
};

/** What the check has found, row by row. */
export const CheckResult = ({ of: { result, errors, error }, offset = 0 }: Props) => (
  <>
    <Problem text={error} />
    {errors && <ErrorCells errors={errors} offset={offset} />}
    {result && <Counts of={result} offset={offset} />}
  </>
);

const SHOWN = 10;

function Counts({ of, offset }: { of: PrealertImport; offset: number }) {
  const others = (of.existing ?? []).filter(({ differs }) => differs);
  return (
    <div class="success stack" role="status" data-testid="check-result">
      <p>{t('myAnnounce.checked')}</p>
      <FactList
        facts={[
          ...sheetFacts(of.file),
          [t('import.created'), number(of.created)],
          [t('myAnnounce.duplicate'), number(of.duplicate)],
          [t('import.repeated'), number(of.repeated)],
          [t('import.skipped'), number(of.skipped)],
        ]}
      />
      {others.length > 0 && (
        <>
          <p>{t('myAnnounce.differs', { count: others.length })}</p>
          <ul>
            {others.slice(0, SHOWN).map(({ row, user_code, status }) => (
              <li key={row}>
                {t('myAnnounce.differsRow', {
                  row: String(row - offset),
                  customer: user_code,
                  status: textOf('prealert', status),
                })}
              </li>
            ))}
          </ul>
        </>
      )}
      <Warnings of={of.warnings} offset={offset} />
    </div>
  );
}

type SubmitProps = { of: Check; isReady: boolean; onClose: () => void };

export const CheckButtons = ({ of: { result, isBusy }, isReady, onClose }: SubmitProps) => (
  <div class="actions">
    <button type="submit" class="primary" disabled={!isReady || isBusy || result?.created === 0}>
      {result ? t('myAnnounce.store', { count: result.created }) : t('myAnnounce.check')}
    </button>
    <button type="button" onClick={onClose}>
      {t('common.cancel')}
    </button>
  </div>
);
