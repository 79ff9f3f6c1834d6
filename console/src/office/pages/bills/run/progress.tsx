import type { BillingRunResult } from '../../../../../../sdk/typescript/src/index.js';
import { money, t, textOf } from '../../../../texts/texts.js';
import { Problem, Table, Tag } from '../../../../ui/parts.js';
import { officeLink } from '../../../../ui/router.js';
import { monthName } from './months.js';
import { closeRun, continueRun, isActive, stopRun, type Run } from './steps.js';

const TINTS: Record<string, 'good' | 'plain' | 'bad'> = {
  drafted: 'good',
  published: 'good',
  queued: 'good',
  unchanged: 'plain',
  refused: 'bad',
};

/** What needs a person comes first, then the courier by name. */
const ORDER = ['refused', 'drafted', 'published', 'queued', 'unchanged'];

const TITLES = { draft: 'run.drafting', publish: 'run.publishing', send: 'run.sending' } as const;
const DONE = { draft: 'run.draftsDone', publish: 'run.publishDone', send: 'run.sendDone' } as const;

/** How far a run is, with a button that stops it after its step; then what happened to each courier, and why. */
export function RunProgress({ run }: { run: Run }) {
  const { request, state, couriers, results, error } = run;
  const title = t(TITLES[request.action], { month: monthName(request.month) });
  const rows = results.toSorted(
    (one, other) =>
      ORDER.indexOf(one.outcome) - ORDER.indexOf(other.outcome) ||
      (one.courier_name ?? '').localeCompare(other.courier_name ?? ''),
  );
  return (
    <section class="card stack" aria-label={title} data-testid="run">
      <h2>{title}</h2>
      <p role="status">{textOfState(run)}</p>
      {state !== 'done' && (
        <progress
          class="run-progress"
          aria-label={t('run.progress')}
          max={Math.max(couriers, results.length, 1)}
          value={results.length}
        />
      )}
      <Problem text={error} />
      <div class="actions">
        {isActive(run) && (
          <button type="button" disabled={state === 'stopping'} onClick={stopRun}>
            {t('run.stop')}
          </button>
        )}
        {(state === 'stopped' || state === 'failed') && (
          <button type="button" class="primary" onClick={continueRun}>
            {t('run.continue')}
          </button>
        )}
        {!isActive(run) && (
          <button type="button" onClick={closeRun}>
            {t('run.close')}
          </button>
        )}
      </div>
      {!isActive(run) && rows.length > 0 && (
        <Table
          caption={t('run.results')}
          rows={rows}
          keyOf={({ courier_id }) => courier_id}
          columns={[
            { title: t('common.courier'), cell: (result) => <CourierOf result={result} /> },
            {
              title: t('run.outcome'),
              cell: ({ outcome }) => (
                <Tag tint={TINTS[outcome] ?? 'plain'}>{textOf('runOutcome', outcome)}</Tag>
              ),
            },
            { title: t('run.why'), cell: (result) => <Reason result={result} /> },
            { title: t('bills.title'), cell: ({ bills }) => <Bills of={bills} /> },
          ]}
        />
      )}
    </section>
  );
}

/** The bills that a run has made, published or sent. Those of an unchanged courier were there before. */
const billsOf = (results: BillingRunResult[]) =>
  results.filter(({ outcome }) => outcome !== 'unchanged').flatMap(({ bills }) => bills);

function textOfState({ request, state, couriers, results }: Run): string {
  const bills = billsOf(results);
  const values = {
    done: results.length,
    couriers: Math.max(couriers, results.length),
    bills: bills.length,
    amount: money(bills.reduce((sum, { total_amount }) => sum + total_amount, 0)),
    refused: results.filter(({ outcome }) => outcome === 'refused').length,
    unchanged: results.filter(({ outcome }) => outcome === 'unchanged').length,
  };
  if (state === 'done') return t(DONE[request.action], values);
  if (state === 'running') return t('run.running', values);
  if (state === 'stopping') return t('run.stopping', values);
  return t(request.action === 'send' ? 'run.sendStopped' : 'run.stopped', values);
}

const CourierOf = ({ result: { courier_id, courier_name, courier_code } }: { result: BillingRunResult }) =>
  courier_code === null ? (
    <span class="mono">{courier_id}</span>
  ) : (
    <a href={officeLink(['couriers', courier_code, 'bills'])}>{courier_name}</a>
  );

function Reason({ result: { code, message, warnings, courier_code } }: { result: BillingRunResult }) {
  if (code !== null) return <>{textOf('runReason', code, message)}</>;
  if (warnings.length === 0 || courier_code === null) return null;
  return <a href={officeLink(['couriers', courier_code, 'rates'])}>{t('run.gap')}</a>;
}

const Bills = ({ of }: { of: BillingRunResult['bills'] }) => (
  <ul class="run-bills">
    {of.map(({ bill_id, invoice_number, total_amount }) => (
      <li key={bill_id}>
        <a class="mono" href={officeLink(['bills', bill_id])}>
          {invoice_number}
        </a>{' '}
        {money(total_amount)}
      </li>
    ))}
  </ul>
);
