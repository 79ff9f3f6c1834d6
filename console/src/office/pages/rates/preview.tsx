import { useState } from 'preact/hooks';
import type { RatePreview } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { loadRatesTexts } from '../../../texts/on-use/rates/rates.js';
import { money, number, t } from '../../../texts/texts.js';
import { Figure } from '../../../ui/data/figure.js';
import { useAction } from '../../../ui/load.js';
import { Choice, Problem, Table, type Column } from '../../../ui/parts.js';
import { csvOf, type FileColumn } from '../../list/csv.js';
import { saveFile } from '../../list/export.js';
import { monthBefore, monthChoices, monthName } from '../bills/run/months.js';
import { readTiers, type TypedTier } from './tiers.js';

/** The preview with its texts. */
export async function loadPreview() {
  await loadRatesTexts();
  return Preview;
}

type Props = { courierId?: string | undefined; rows: TypedTier[] };

/** What a month would have cost by the tiers that are typed. Nothing is saved. */
function Preview({ courierId, rows }: Props) {
  const [month, setMonth] = useState(() => monthBefore(new Date(), 1));
  const [result, setResult] = useState<{ of: string; data: RatePreview }>();
  // A result is shown only for what it was calculated of.
  const typed = JSON.stringify([month, rows.map(({ start, end, fee }) => [start, end, fee])]);
  const run = useAction(async () => {
    const read = readTiers(rows);
    if (!('tiers' in read)) throw new Error(t('rates.wrong', { row: read.wrong }));
    // The ids of tiers have no meaning here.
    const rates = read.tiers.map(({ startweight, endweight, fee }) => ({ startweight, endweight, fee }));
    const target = courierId ? { courier_id: courierId } : {};
    const { data } = await api().rates.preview({ ...target, month, rates });
    setResult({ of: typed, data });
  });
  return (
    <section class="stack" data-testid="rate-preview">
      <h3>{t('ratePreview.title')}</h3>
      <p class="muted">
        {t('ratePreview.hint')} {courierId ? '' : t('ratePreview.defaults')}
      </p>
      <div class="list-tools">
        <Choice
          label={t('ratePreview.month')}
          value={month}
          onValue={setMonth}
          options={monthChoices(month)}
        />
        <button type="button" disabled={run.isBusy} onClick={() => run.run()}>
          {t('ratePreview.run')}
        </button>
      </div>
      <Problem text={run.error} />
      <div role="status">{result?.of === typed && <Result of={result.data} />}</div>
    </section>
  );
}

const signed = (amount: number) =>
  number(amount, { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: 'exceptZero' });

function Result({ of }: { of: RatePreview }) {
  if (of.packages === 0) return <p class="muted">{t('ratePreview.none')}</p>;
  return (
    <div class="stack">
      <dl class="figures">
        <Figure title={t('common.packages')} note={monthName(of.month)}>
          {number(of.packages)}
        </Figure>
        <Figure title={t('ratePreview.now')}>{`${money(of.current_amount)} USD`}</Figure>
        <Figure title={t('ratePreview.then')}>{`${money(of.proposed_amount)} USD`}</Figure>
        <Figure title={t('ratePreview.difference')}>{`${signed(of.difference)} USD`}</Figure>
      </dl>
      {of.gaps.map((gap) => (
        <p key={`${gap.above} ${gap.below}`} class="notice">
          {t('ratePreview.gap', {
            range: rangeOf(gap),
            count: gap.packages,
            amount: money(gap.current_amount),
          })}
        </p>
      ))}
      <Tiers of={of} />
    </div>
  );
}

function rangeOf({ above, below }: RatePreview['gaps'][number]): string {
  if (above === null) return t('ratePreview.any');
  return below === null
    ? t('ratePreview.above', { from: number(above) })
    : t('ratePreview.between', { from: number(above), to: number(below) });
}

type Row = { name: string } & Omit<RatePreview['proposed'][number], 'startweight' | 'endweight' | 'fee'> & {
    fee: number | null;
  };

/** The tiers, and a line for what has none, so that the columns add up to the totals. */
function rowsOf({ proposed, gaps }: RatePreview): Row[] {
  const without = gaps.filter(({ packages }) => packages > 0);
  return [
    ...proposed.map(({ startweight, endweight, ...rest }) => ({
      ...rest,
      name: t('ratePreview.between', { from: number(startweight), to: number(endweight) }),
    })),
    ...without.map(({ packages, weight, current_amount, ...range }) => ({
      name: `${t('ratePreview.withoutTier')}: ${rangeOf({ packages, weight, current_amount, ...range })}`,
      fee: null,
      packages,
      weight,
      current_amount,
      proposed_amount: 0,
    })),
  ];
}

function Tiers({ of }: { of: RatePreview }) {
  const rows = rowsOf(of);
  const amount = (title: string, of: (row: Row) => number): Column<Row> & FileColumn<Row> => ({
    title,
    isNumber: true,
    cell: (row) => money(of(row)),
    text: of,
  });
  const columns: (Column<Row> & FileColumn<Row>)[] = [
    { title: t('rates.tiers'), cell: ({ name }) => name, text: ({ name }) => name },
    {
      title: t('rates.fee'),
      isNumber: true,
      isExtra: true,
      cell: ({ fee }) => (fee === null ? '' : money(fee)),
      text: ({ fee }) => fee ?? '',
    },
    {
      title: t('common.packages'),
      isNumber: true,
      cell: ({ packages }) => number(packages),
      text: ({ packages }) => packages,
    },
    { ...amount(t('ratePreview.weight'), ({ weight }) => weight), isExtra: true },
    amount(t('ratePreview.nowUsd'), ({ current_amount }) => current_amount),
    amount(t('ratePreview.thenUsd'), ({ proposed_amount }) => proposed_amount),
  ];
  const save = () => saveFile(csvOf(columns, rows), `${t('ratePreview.file', { month: of.month })}.csv`);
  return (
    <>
      <div class="heading">
        <h4>{t('ratePreview.tiers')}</h4>
        <button type="button" onClick={save}>
          {t('ratePreview.export')}
        </button>
      </div>
      <Table caption={t('ratePreview.tiers')} rows={rows} keyOf={({ name }) => name} columns={columns} />
    </>
  );
}
