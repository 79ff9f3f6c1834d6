import { api } from '../../../session/session.js';
import { number, t } from '../../../texts/texts.js';
import { Choice } from '../../../ui/parts.js';
import type { ListState } from '../../list/state.js';
import { saveFile } from '../../list/export.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import { asQuery } from '../../list/package-search.js';
import { searchOf } from './search.js';

/** The most rows of a file. */
const ROWS = 10_000;
/** Offered if the service does not know how many parcels match. */
const PARTS = 100;

type Props = { state: ListState; total: number; isCut: boolean; onClose: () => void };

/** Files of the parcels that the list shows, on all of its pages and in its order, which the service writes. A file has at most 10,000 parcels. */
export function ExportDialog({ state, total, isCut, onClose }: Props) {
  const parts = isCut ? PARTS : Math.ceil(total / ROWS);
  const form = useForm({ format: 'xlsx', part: '1' }, async ({ format, part }) => {
    const query = { ...asQuery(await searchOf(state)), page: Number(part), limit: ROWS };
    const file =
      format === 'csv' ? await api().packages.exportCsv(query) : await api().packages.exportXlsx(query);
    const name = `packages${parts > 1 ? `-${part}` : ''}.${format}`;
    saveFile(await file.blob(), name);
    toast(t('officeParcels.exported', { name }));
    // Who needs several parts stays.
    if (parts <= 1) onClose();
  });
  return (
    <FormDialog title={t('officeParcels.export')} onClose={onClose}>
      <Form of={form} submit={t('officeParcels.save')}>
        {isCut && <p>{t('officeParcels.exportCut', { count: ROWS })}</p>}
        {!isCut && <p>{t('officeParcels.exportHint', { count: total })}</p>}
        <Choice
          label={t('officeParcels.format')}
          value={form.values.format}
          onValue={(value) => form.set('format', value)}
          options={[
            ['xlsx', t('officeParcels.xlsx')],
            ['csv', 'CSV'],
          ]}
        />
        {parts > 1 && (
          <Choice
            label={t('officeParcels.part')}
            value={form.values.part}
            onValue={(value) => form.set('part', value)}
            options={Array.from({ length: parts }, (_, index) => [
              String(index + 1),
              `${number(index * ROWS + 1)} – ${number((index + 1) * ROWS)}`,
            ])}
          />
        )}
      </Form>
    </FormDialog>
  );
}
