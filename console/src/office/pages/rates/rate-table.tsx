import { useState } from 'preact/hooks';
import type { RateTier } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { useAction } from '../../../ui/load.js';
import { part } from '../../../ui/part.js';
import { Empty, Problem } from '../../../ui/parts.js';
import { Unsaved } from '../../ui/unsaved.js';
import { toast } from '../../ui/toasts.js';
import { gapsOf, readTiers, type TypedTier } from './tiers.js';

const Preview = part(async () => (await import('./preview.js')).loadPreview(), { isOnUse: true });

type Props = {
  /** Of which courier. Without it, the table is that of all couriers without rates of their own. */
  courierId?: string;
  tiers: RateTier[];
  onChanged: () => void;
};

const typedOf = ({ id, startweight, endweight, fee }: RateTier): TypedTier => ({
  key: String(id),
  id,
  start: String(startweight),
  end: String(endweight),
  fee: String(fee),
});

/** Returns the values of a table as a text. `2,50` is the same as `2.5`. */
const valuesOf = (rows: TypedTier[]): string =>
  JSON.stringify(
    rows.map(({ start, end, fee }) =>
      [start, end, fee].map((text) => text && (Number(text.trim().replace(',', '.')) || text)),
    ),
  );

/** The tiers of a table. It is saved as a whole, and a gap between two tiers is named before that. */
export function RateTable({ courierId, tiers, onChanged }: Props) {
  const [rows, setRows] = useState(() => tiers.map(typedOf));
  const read = readTiers(rows);
  const gaps = 'tiers' in read ? gapsOf(read.tiers) : [];
  const save = useAction(async () => {
    if (!('tiers' in read)) throw new Error(t('rates.wrong', { row: read.wrong }));
    const target = courierId ? { courier_id: courierId } : {};
    const send = (rates: { id?: number; startweight: number; endweight: number; fee: number }[]) =>
      api().rates.manage({ action: 'save_rates', ...target, rates });
    await send(read.tiers);
    toast(t('rates.saved'), async () => {
      // The ids before may be gone, so that the tiers are inserted again.
      await send(tiers.map(({ startweight, endweight, fee }) => ({ startweight, endweight, fee })));
      onChanged();
    });
    onChanged();
  });
  const set = (key: string, field: 'start' | 'end' | 'fee', value: string) =>
    setRows((last) => last.map((row) => (row.key === key ? { ...row, [field]: value } : row)));
  const add = () =>
    setRows((last) => [
      ...last,
      { key: crypto.randomUUID(), start: last.at(-1)?.end ?? '0', end: '', fee: '' },
    ]);
  const FIELDS = ['start', 'end', 'fee'] as const;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save.run();
      }}
    >
      {rows.length === 0 ? (
        <Empty title={t('rates.none')}>{t('rates.noneHint')}</Empty>
      ) : (
        <div class="table" tabIndex={0} role="region" aria-label={t('couriers.rates')}>
          <table>
            <thead>
              <tr>
                {FIELDS.map((field) => (
                  <th key={field} scope="col">
                    {t(`rates.${field}`)}
                  </th>
                ))}
                <th scope="col">{t('office.change')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                <tr key={row.key}>
                  {FIELDS.map((field) => (
                    <td key={field}>
                      <input
                        class="cell"
                        inputMode="decimal"
                        autocomplete="off"
                        maxLength={12}
                        aria-label={t('rates.cell', { field: t(`rates.${field}`), row: index + 1 })}
                        value={row[field]}
                        onInput={({ currentTarget }) => set(row.key, field, currentTarget.value)}
                      />
                    </td>
                  ))}
                  <td>
                    <button
                      type="button"
                      class="quiet"
                      onClick={() => setRows((last) => last.filter(({ key }) => key !== row.key))}
                    >
                      {t('office.remove')}
                      <span class="unseen"> {index + 1}</span>
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {gaps.map(({ from, to }) => (
        <p key={`${from} ${to}`} class="notice" role="status">
          {t('rates.gap', { from, to })}
        </p>
      ))}
      <Problem text={save.error} />
      <div class="actions">
        <button type="button" onClick={add}>
          {t('rates.add')}
        </button>
        <button type="submit" class="primary" disabled={save.isBusy}>
          {t('rates.save')}
        </button>
      </div>
      <Unsaved what={t('couriers.rates')} isChanged={valuesOf(rows) !== valuesOf(tiers.map(typedOf))} />
      <Preview courierId={courierId} rows={rows} />
    </form>
  );
}
