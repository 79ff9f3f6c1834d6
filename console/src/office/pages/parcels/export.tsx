import { api } from '../../../session/session.js';
import { number, t, textOf } from '../../../texts/texts.js';
import { Choice } from '../../../ui/parts.js';
import type { ListState } from '../../list/state.js';
import { saveFile } from '../../list/export.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import { searchOf } from './search.js';

/** The most rows of a file. */
const ROWS = 10_000;
/** Offered if the service does not know how many parcels match. */
const PARTS = 100;

type Props = { state: ListState; total: number; isCut: boolean; onClose: () => void };

/** Files of all parcels that the filters match, which the service writes. A file has one status, and at most 10,000 parcels. */
export function ExportDialog({ state, total, isCut, onClose }: Props) {
  const statuses = state.filters['status']?.split(',') ?? [];
  const parts = isCut ? PARTS : Math.ceil(total / ROWS);
  const form = useForm(
    { format: 'xlsx', part: '1', status: statuses[0] ?? '' },
    async ({ format, part, status }) => {
      const { status: _all, sort_by: _by, sort_dir: _direction, ...filters } = await searchOf(state);
      const query = {
        ...filters,
        ...(status ? { status: status as 'received' } : {}),
        page: Number(part),
        limit: ROWS,
      };
      const file =
        format === 'csv' ? await api().packages.exportCsv(query) : await api().packages.exportXlsx(query);
      const name = ['packages', status, parts > 1 ? part : ''].filter(Boolean).join('-');
      saveFile(await file.blob(), `${name}.${format}`);
      toast(t('officeParcels.exported', { name: `${name}.${format}` }));
      // Who needs several parts stays.
      if (parts <= 1 && statuses.length <= 1) onClose();
    },
  );
  return (
    <FormDialog title={t('officeParcels.export')} onClose={onClose}>
      <Form of={form} submit={t('officeParcels.save')}>
        {statuses.length > 1 && <p>{t('officeParcels.exportStatuses')}</p>}
        {isCut && <p>{t('officeParcels.exportCut', { count: ROWS })}</p>}
        {!isCut && statuses.length <= 1 && <p>{t('officeParcels.exportHint', { count: total })}</p>}
        <Choice
          label={t('officeParcels.format')}
          value={form.values.format}
          onValue={(value) => form.set('format', value)}
          options={[
            ['xlsx', t('officeParcels.xlsx')],
            ['csv', 'CSV'],
          ]}
        />
        {statuses.length > 1 && (
          <Choice
            label={t('officeParcels.oneStatus')}
            value={form.values.status}
            onValue={(value) => form.set('status', value)}
            options={statuses.map((status) => [status, textOf('status', status)])}
          />
        )}
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
