import { number, t } from '../../texts/texts.js';
import { Choice } from '../../ui/parts.js';
import { saveFile } from '../list/export.js';
import { FormDialog } from './dialogs.js';
import { Form, useForm } from './form.js';
import { toast } from './toasts.js';

/** The most rows of a file. */
const ROWS = 10_000;
/** Offered if the service does not know how many records match. */
const PARTS = 100;

export type FileFormat = 'csv' | 'xlsx';

type Props = {
  /** The beginning of the name of the file. */
  name: string;
  /** Says what the file has. */
  hint: string;
  total: number;
  isCut?: boolean;
  /** Asks the service for a part of the list, in its order. */
  load: (format: FileFormat, part: { page: number; limit: number }) => Promise<{ blob: () => Promise<Blob> }>;
  onClose: () => void;
};

/** Files of what the list shows, on all of its pages and in its order, which the service writes. A file has at most 10,000 rows. */
export function ExportDialog({ name: file, hint, total, isCut = false, load, onClose }: Props) {
  const parts = isCut ? PARTS : Math.ceil(total / ROWS);
  const form = useForm({ format: 'xlsx', part: '1' }, async ({ format, part }) => {
    // One of the options below.
    const content = await load(format as FileFormat, { page: Number(part), limit: ROWS });
    const name = `${file}${parts > 1 ? `-${part}` : ''}.${format}`;
    saveFile(await content.blob(), name);
    toast(t('officeParcels.exported', { name }));
    // Who needs several parts stays.
    if (parts <= 1) onClose();
  });
  return (
    <FormDialog title={t('officeParcels.export')} onClose={onClose}>
      <Form of={form} submit={t('officeParcels.save')}>
        {isCut && <p>{t('officeParcels.exportCut', { count: ROWS })}</p>}
        {!isCut && <p>{hint}</p>}
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
